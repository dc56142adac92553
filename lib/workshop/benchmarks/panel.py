"""How long a slider takes to answer, near and far: `interact`, nothing at all, plain panels, living ones.

Measured in the page: from the key press on the slider until the new picture is decoded, or the new text stands there.
The arms take turns, so that what else the machine does falls on all of them. Run: python -m workshop.benchmarks.panel
"""

import tempfile
from inspect import getsource
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure
from playwright.sync_api import Page

from workshop import lab
from workshop.benchmarks.delay import delayed
from workshop.chromium import chromium

ROUNDS, WARM_UP = 30, 3
DRAG, EVERY = 40, 16  # moves of a drag, and ms from one to the next
FIRST_TOUCH = 3  # seconds that a living panel has to ask ahead
FAR = 0.15  # seconds of a round trip
LAST = 400


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


PANEL = """
front.choose("{kind}")
os.environ["BLOCKLAB_AHEAD"] = "{ahead}"
Panel(picture, shift=Slider(0, LAST, 1, value=0))
"""
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
    "plain": PANEL.format(kind="plain", ahead=0),
    "not ahead": PANEL.format(kind="live", ahead=0),
    "ahead": PANEL.format(kind="live", ahead=1),
}
SLIDERS = ".jp-OutputArea :is(input[type=range], [role=slider])"
WANTED = {  # at most, as a share of the empty round trip of the same line: a step near, a step far
    "not ahead": (2.3, 1.25),
    "ahead": (0.5, 0.1),
}

# What all measurements share. Between moves the page waits until the kernel has nothing left to do, and a little more,
# as a reader does: what one arm leaves behind (`interact` sends its picture back to the kernel) is not to fall on the
# next.
SHARED = """
    // Drawing one pixel makes the browser decode the picture there and then. `img.decode()` would add a wait for the
    // next frame of the screen, up to 17 ms for every arm, whatever it did.
    const paper = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const decoded = async image => {
        if (!image) return;
        if (!image.complete) await new Promise(done => image.addEventListener('load', done, { once: true }));
        paper.drawImage(image, 0, 0);
        paper.getImageData(0, 0, 1, 1);
    };
    const notebook = window.jupyterapp.shell.currentWidget;
    const kernel = notebook.sessionContext.session.kernel;
    const pause = ms => new Promise(done => setTimeout(done, ms));
    const cellOf = arm => notebook.content.widgets[arm + 1].outputArea.node;
    const sliderOf = cell => cell.querySelector('input[type=range], [role=slider]');
    // What the reader sees of the move: the text, or the picture where nothing is said.
    const shown = cell => cell.querySelector('.answer, [role=status]')?.textContent ?? cell.querySelector('img')?.src;
    const press = slider => {
        slider.focus();
        slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    };
    // In the page and laid out: a picture of strokes has a box then, an image is decoded.
    const painted = async cell => {
        cell.querySelector('svg[role=img]')?.getBoundingClientRect();
        await decoded(cell.querySelector('img'));
    };
"""
STEPS = """async ([arms, moves]) => {SHARED
    const taken = arms.map(() => []);
    for (let move = 0; move < moves; move++) {
        for (const arm of arms.keys()) {
            await kernel.requestKernelInfo();
            await pause(150);
            const cell = cellOf(arm), slider = sliderOf(cell), before = shown(cell);
            taken[arm].push(await new Promise((resolve, reject) => {
                const late = setTimeout(() => reject(`${arms[arm]} did not answer`), 20000);
                const observer = new MutationObserver(async () => {
                    if (!shown(cell) || shown(cell) === before) return;
                    observer.disconnect();
                    await painted(cell);
                    clearTimeout(late);
                    resolve(performance.now() - pressed);
                });
                observer.observe(cell, { subtree: true, childList: true, attributes: true, characterData: true });
                const pressed = performance.now();
                press(slider);
            }));
        }
    }
    return taken;
}""".replace("SHARED", SHARED)
DRAGGED = """async ([arm, moves, every]) => {SHARED
    await kernel.requestKernelInfo();
    const cell = cellOf(arm), slider = sliderOf(cell), seen = new Set([shown(cell)]);
    const stop = Number(slider.getAttribute('aria-valuenow') ?? slider.value) + moves;
    const there = () => shown(cell).includes(`shifted by ${stop}`);
    const observer = new MutationObserver(() => seen.add(shown(cell)));
    observer.observe(cell, { subtree: true, childList: true, attributes: true, characterData: true });
    const began = performance.now();
    for (let move = 0; move < moves; move++) {
        await pause(Math.max(0, began + every * move - performance.now()));
        press(slider);
    }
    const ended = performance.now();
    while (!there() && performance.now() - ended < 20000) await pause(1);
    observer.disconnect();
    return { frames: seen.size - 1, last: there() ? performance.now() - ended : null };
}""".replace("SHARED", SHARED)
BEGIN = """
import os
import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure
from blocklab.lessons import begin
from blocklab.panel import Panel, Slider, front
begin("en")
LAST = {last}
"""


def measure(page: Page) -> dict[str, dict[str, float]]:
    """Of every arm the median milliseconds of a step, the frames of a drag and how long its last one takes."""
    arms = list(ARMS)
    warm = page.evaluate(STEPS, [arms, WARM_UP])
    assert len(warm) == len(arms)
    page.wait_for_timeout(1000 * FIRST_TOUCH)
    steps = page.evaluate(STEPS, [arms, ROUNDS])
    found = {arm: {"step": median(times)} for arm, times in zip(arms, steps, strict=True)}
    for number, arm in enumerate(arms):
        if arm in ("plain", "not ahead", "ahead"):
            page.wait_for_timeout(1000 * FIRST_TOUCH)
            found[arm] |= page.evaluate(DRAGGED, [number, DRAG, EVERY])
    return found


def session(far: float) -> dict[str, dict[str, float]]:
    """All arms in one JupyterLab, `far` seconds of a round trip away."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        first = BEGIN.format(last=LAST) + "\n\n" + getsource(picture)
        lab.write_notebook(root / "bench" / "bench.ipynb", [first, *ARMS.values()])
        with lab.jupyter_lab(root / "bench", root / "home") as address, chromium() as browser:
            port = int(address.split(":")[2].split("/")[0])
            with delayed(port, far) as slow:
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                page.set_default_timeout(120_000)
                lab.open_notebook(page, address.replace(str(port), str(slow), 1), "bench.ipynb")
                lab.run_all(page)
                if problems := lab.errors(page):
                    raise RuntimeError("\n".join(problems))
                page.wait_for_function(f"() => document.querySelectorAll('{SLIDERS}').length >= {len(ARMS)}")
                return measure(page)


def report(found: dict[str, dict[str, float]], place: int) -> None:
    empty = found["empty"]["step"]
    for arm, values in found.items():
        ratio = values["step"] / empty
        wanted = WANTED.get(arm)
        met = "" if wanted is None else f"  wanted {wanted[place]}" + ("" if ratio <= wanted[place] else "  NOT MET")
        drag = ""
        if "frames" in values:
            last = "never" if values["last"] is None else f"{values['last']:.0f} ms after"
            drag = f"   a drag: {values['frames']} of {DRAG} states, the last {last}"
        print(f"  {arm:12}{values['step']:7.1f} ms{ratio:7.2f} of an empty round trip{met}{drag}", flush=True)


def main() -> None:
    print(f"a key press until the answer is seen, medians of {ROUNDS} moves each")
    for place, (name, far) in enumerate({"near": 0.0, f"behind {1000 * FAR:.0f} ms": FAR}.items()):
        print(name, flush=True)
        report(session(far), place)


if __name__ == "__main__":
    main()
