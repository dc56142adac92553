"""How long a slider takes to answer, near and far: `interact`, an empty round trip, fallback and live panels.

Measured in the page, from the key press until the new picture is decoded or the new text is in the page. All variants
take turns in one JupyterLab.
"""

import tempfile
from inspect import getsource
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure
from playwright.sync_api import Page

from authoring import jupyter_lab
from authoring.chromium import chromium
from authoring.jupyter_server import LAB, serve

TINY = {"rounds": 1, "warm_up": 1, "drag": 3, "first_touch": 0.3, "round_trips": (0.01,)}
LONG_ROUND_TRIP = 0.15  # seconds, to another continent
DRAG_INTERVAL = 16  # milliseconds between two moves
SLIDER_MAX = 400


def picture(figure: Figure):
    """The picture of all variants: a heat map with a colour bar beside two curves, 1000 x 400 CSS pixels."""
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
begin("en", panels="{kind}")
os.environ["BLOCKLAB_AHEAD"] = "{ahead}"
Panel(picture, shift=Slider(0, LAST, 1, value=0))
"""
VARIANTS = {
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
    "fallback": PANEL.format(kind="plain", ahead=0),
    "not ahead": PANEL.format(kind="live", ahead=0),
    "ahead": PANEL.format(kind="live", ahead=1),
}
SLIDERS = ".jp-OutputArea :is(input[type=range], [role=slider])"
GOALS = {
    "not ahead": {0.0: 2.3, LONG_ROUND_TRIP: 1.25},
    "ahead": {0.0: 0.5, LONG_ROUND_TRIP: 0.1},
}  # at most so many empty round trips

DELAY = """
const half = HALF;  // milliseconds in each direction
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (data) { setTimeout(() => send.call(this, data), half); };
const handler = Object.getOwnPropertyDescriptor(WebSocket.prototype, 'onmessage');
const set = function (handle) { handler.set.call(this, handle && (event => setTimeout(() => handle(event), half))); };
Object.defineProperty(WebSocket.prototype, 'onmessage', { ...handler, set });
"""
# Between moves the page waits until the Jupyter kernel is idle, and a little longer, as a reader does. Otherwise the
# leftover work of one variant (`interact` sends its picture back to the kernel) would slow down the next one.
SHARED = """
    // Drawing one pixel decodes the picture at once. `img.decode()` would wait for the next frame, up to 17 ms.
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
    const cellOf = variant => notebook.content.widgets[variant + 1].outputArea.node;
    const sliderOf = cell => cell.querySelector('input[type=range], [role=slider]');
    // What the reader sees change: the text, or the picture if there is no text.
    const shown = cell => cell.querySelector('.answer, [role=status]')?.textContent ?? cell.querySelector('img')?.src;
    const press = slider => {
        slider.focus();
        slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    };
    // Resolves once the picture is laid out and, if an image, decoded.
    const painted = async cell => {
        cell.querySelector('svg[role=img]')?.getBoundingClientRect();
        await decoded(cell.querySelector('img'));
    };
"""
STEPS = """async ([variants, moves]) => {SHARED
    const times = variants.map(() => []);
    for (let move = 0; move < moves; move++) {
        for (const variant of variants.keys()) {
            await kernel.requestKernelInfo();
            await pause(150);
            const cell = cellOf(variant), slider = sliderOf(cell), before = shown(cell);
            times[variant].push(await new Promise((resolve, reject) => {
                const late = setTimeout(() => reject(`${variants[variant]} did not answer`), 20000);
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
    return times;
}""".replace("SHARED", SHARED)
DRAG = """async ([variant, moves, every]) => {SHARED
    await kernel.requestKernelInfo();
    const cell = cellOf(variant), slider = sliderOf(cell), seen = new Set([shown(cell)]);
    const stop = Number(slider.getAttribute('aria-valuenow') ?? slider.value) + moves;
    const arrived = () => shown(cell).includes(`shifted by ${stop}`);
    const observer = new MutationObserver(() => seen.add(shown(cell)));
    observer.observe(cell, { subtree: true, childList: true, attributes: true, characterData: true });
    const began = performance.now();
    for (let move = 0; move < moves; move++) {
        await pause(Math.max(0, began + every * move - performance.now()));
        press(slider);
    }
    const ended = performance.now();
    while (!arrived() && performance.now() - ended < 20000) await pause(1);
    observer.disconnect();
    return { frames: seen.size - 1, last: arrived() ? performance.now() - ended : null };
}""".replace("SHARED", SHARED)
BEGIN = """
import os
import ipywidgets as widgets
import numpy as np
from matplotlib.figure import Figure
from blocklab_course import begin
from blocklab_course.panel import Panel, Slider
begin("en")
LAST = {last}
"""


def measure(page: Page, rounds: int, warm_up: int, drag: int, first_touch: float) -> dict[str, dict[str, float]]:
    """The median milliseconds of a step for each variant; for panels also the frames seen in a drag.

    first_touch: seconds before the slider is touched, in which a live panel can ask for states ahead.
    """
    names = list(VARIANTS)
    page.evaluate(STEPS, [names, warm_up])
    page.wait_for_timeout(1000 * first_touch)
    steps = page.evaluate(STEPS, [names, rounds])
    found = {name: {"step": median(times)} for name, times in zip(names, steps, strict=True)}
    for number, name in enumerate(names):
        if name in ("fallback", "not ahead", "ahead"):
            page.wait_for_timeout(1000 * first_touch)
            found[name] |= page.evaluate(DRAG, [number, drag, DRAG_INTERVAL])
    return found


def session(round_trip: float, **sizes: float) -> dict[str, dict[str, float]]:
    """Measure all variants in one JupyterLab, with `round_trip` seconds of delay added."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        first = BEGIN.format(last=SLIDER_MAX) + "\n\n" + getsource(picture)
        jupyter_lab.write_notebook(root / "bench" / "bench.ipynb", [first, *VARIANTS.values()])
        with serve(LAB, root / "bench", root / "home") as address, chromium() as browser:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.set_default_timeout(120_000)
            if round_trip:
                page.add_init_script(DELAY.replace("HALF", str(1000 * round_trip / 2)))
            jupyter_lab.open_notebook(page, address, "bench.ipynb")
            jupyter_lab.run_all(page)
            if problems := jupyter_lab.list_errors(page):
                raise RuntimeError("\n".join(problems))
            page.wait_for_function(f"() => document.querySelectorAll('{SLIDERS}').length >= {len(VARIANTS)}")
            return measure(page, **sizes)


def report(found: dict[str, dict[str, float]], round_trip: float, moves: int) -> None:
    for name, values in found.items():
        ratio = values["step"] / found["empty"]["step"]
        goal = GOALS.get(name, {}).get(round_trip)
        verdict = "" if goal is None else f"  goal {goal}: {'met' if ratio <= goal else 'MISSED'}"
        drag = ""
        if "frames" in values:
            last = "never" if values["last"] is None else f"{values['last']:.0f} ms after the last move"
            drag = f"   drag: {values['frames']} of {moves} states, the last {last}"
        print(f"  {name:12}{values['step']:7.1f} ms{ratio:7.2f} empty round trips{verdict}{drag}", flush=True)


def main(
    rounds: int = 30,
    warm_up: int = 3,
    drag: int = 40,
    first_touch: float = 3.0,
    round_trips: tuple[float, ...] = (0.0, LONG_ROUND_TRIP),
) -> None:
    print(f"from key press to visible answer, median of {rounds}; goals are upper bounds")
    for round_trip in round_trips:
        print(f"round trip + {1000 * round_trip:.0f} ms", flush=True)
        found = session(round_trip, rounds=rounds, warm_up=warm_up, drag=drag, first_touch=first_touch)
        report(found, round_trip, drag)
