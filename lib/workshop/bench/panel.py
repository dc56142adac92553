"""How long a slider takes to answer: `interact`, nothing at all, ready-made frames, our Panel; in one browser session.

Measured in the page: from the key press on the slider until the new picture is decoded, or the new text stands there.
The arms take turns, so that what else the machine does falls on all of them. Run: python -m workshop.bench.panel
"""

import tempfile
from inspect import getsource
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure

from workshop import lab
from workshop.chromium import chromium

ROUNDS, WARM_UP = 60, 5


def picture(figure: Figure):
    """A heat map with its colour bar beside two curves, on 1000 x 400 CSS pixels; all arms draw it with this code."""
    place = {"left": 0.06, "right": 0.98, "bottom": 0.13, "top": 0.9, "wspace": 0.15}
    left, right = figure.subplots(1, 2, gridspec_kw=place)
    values = np.random.default_rng(0).normal(size=(24, 32))
    heat = left.pcolormesh(values, vmin=-3, vmax=3, animated=True)
    left.set(title="activations", xlabel="feature", ylabel="position")
    figure.colorbar(heat, ax=left)
    x = np.linspace(0, 6, 200)
    curves = [right.plot(x, np.sin(x + phase), animated=True)[0] for phase in (0, 1)]
    right.set(title="curves", xlabel="x", xlim=(0, 6), ylim=(-1.2, 1.2))
    right.grid()

    def update(shift: int) -> str:
        heat.set_array(np.roll(values, shift, 1))
        for phase, curve in enumerate(curves):
            curve.set_ydata(np.sin(x * (1 + shift / 60) + phase))
        return f"shifted by {shift}"

    return update


ARMS = {
    "interact": """
%matplotlib inline
import matplotlib.pyplot as plt

def draw(shift):
    figure = plt.figure(figsize=(10, 4), dpi=100)
    picture(figure)(shift)
    plt.show()

widgets.interact(draw, shift=widgets.IntSlider(0, 0, LAST));
""",
    "empty": """
label, slider = widgets.Label("-"), widgets.IntSlider(0, 0, LAST)
label.add_class("answer")
slider.observe(lambda change: setattr(label, "value", f"shifted by {change['new']}"), "value")
widgets.VBox([slider, label])
""",
    "ready-made": """
panel = Panel(picture, shift=Slider(0, LAST, 1, value=0))
frames = [panel.image.value for panel.controls["shift"].value in range(LAST + 1)]
image, slider = widgets.Image(value=frames[0], format="jpeg", layout=panel.image.layout), widgets.IntSlider(0, 0, LAST)
slider.observe(lambda change: setattr(image, "value", frames[change["new"]]), "value")
widgets.VBox([slider, image])
""",
    "panel": "Panel(picture, shift=Slider(0, LAST, 1, value=0))",
}

# All moves, arm after arm. Between them the page waits until the kernel has nothing left to do, and a little more, as a
# reader does: what one arm leaves behind (`interact` sends its picture back to the kernel) is not to fall on the next.
MOVES = """async ([arms, moves]) => {
    // Drawing one pixel makes the browser decode the picture there and then. `img.decode()` would add a wait for the
    // next frame of the screen, up to 17 ms for every arm, whatever it did.
    const paper = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const decoded = async img => {
        if (!img) return;
        if (!img.complete) await new Promise(done => img.addEventListener('load', done, { once: true }));
        paper.drawImage(img, 0, 0);
        paper.getImageData(0, 0, 1, 1);
    };
    const panel = window.jupyterapp.shell.currentWidget;
    const kernel = panel.sessionContext.session.kernel;
    const taken = arms.map(() => []);
    for (let move = 0; move < moves; move++) {
        for (const arm of arms.keys()) {
            await kernel.requestKernelInfo();
            await new Promise(done => setTimeout(done, 150));
            const cell = panel.content.widgets[arm + 1].outputArea.node;
            const slider = cell.querySelector('[role=slider]');
            const shown = () => cell.querySelector('.answer')?.textContent ?? cell.querySelector('img')?.src;
            const before = shown();
            slider.focus();
            taken[arm].push(await new Promise((resolve, reject) => {
                const pressed = performance.now();
                const late = setTimeout(() => reject(`${arms[arm]} did not answer`), 20000);
                const observer = new MutationObserver(async () => {
                    if (!shown() || shown() === before) return;
                    observer.disconnect();
                    await decoded(cell.querySelector('img'));
                    clearTimeout(late);
                    resolve(performance.now() - pressed);
                });
                observer.observe(cell, { subtree: true, childList: true, attributes: true, characterData: true });
                slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
            }));
        }
    }
    return taken;
}"""
BEGIN = """
import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure
from blocklab.lessons import begin
from blocklab.panel import Panel, Slider
begin("en")
LAST = {last}
"""


def measure() -> dict[str, list[float]]:
    """Milliseconds of every move, for each arm."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        first = BEGIN.format(last=ROUNDS + WARM_UP) + "\n\n" + getsource(picture)
        lab.write_notebook(root / "bench" / "bench.ipynb", [first, *ARMS.values()])
        with lab.jupyter_lab(root / "bench", root / "home") as address, chromium() as browser:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            lab.open_notebook(page, address, "bench.ipynb")
            lab.run_all(page)
            if problems := lab.errors(page):
                raise RuntimeError("\n".join(problems))
            page.wait_for_function(f"() => document.querySelectorAll('[role=slider]').length === {len(ARMS)}")
            taken = page.evaluate(MOVES, [list(ARMS), WARM_UP + ROUNDS])
    return {arm: times[WARM_UP:] for arm, times in zip(ARMS, taken, strict=True)}


def main() -> None:
    middle = {arm: median(times) for arm, times in measure().items()}
    print(f"a key press until the answer is seen, medians of {ROUNDS} moves each")
    for arm, milliseconds in middle.items():
        print(f"  {arm:12}{milliseconds:7.1f} ms")
    for arm in ("panel", "ready-made"):
        print(
            f"  {arm}: {middle['interact'] / middle[arm]:.1f} times faster than interact,"
            f" {middle[arm] / middle['empty']:.1f} times an empty round trip"
        )
    print("  wanted of the panel: at least 4.5 (better 5.5) and at most 2.6 (better 2.0)")


if __name__ == "__main__":
    main()
