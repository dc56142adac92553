"""A real JupyterLab for the browser tests and the panel bench; the user's own stay untouched."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Locator, Page

from authoring.jupyter_server import LAB, serve

BETWEEN_LOOKS = 50  # milliseconds
KERNEL_IS_IDLE = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    return panel?.context?.isReady && panel.sessionContext?.session?.kernel?.status === 'idle';
}"""
SHOWS = f"""path => window.jupyterapp?.shell.currentWidget?.context?.path === path && ({KERNEL_IS_IDLE})()"""
OPEN = "async path => { await window.jupyterapp.commands.execute('docmanager:open', { path }); }"
CLOSE_ALL = """async () => {
    if (!window.jupyterapp) return;
    await window.jupyterapp.serviceManager.sessions.shutdownAll();
    for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
        if (widget.context) widget.context.model.dirty = false;  // or it would ask whether to save
        widget.close();
    }
}"""
ERRORS = """() => window.jupyterapp.shell.currentWidget.content.widgets.flatMap((cell, number) =>
    (cell.model.getMetadata('tags') ?? []).includes('raises-exception') ? [] :
        (cell.model.sharedModel.outputs ?? []).filter(output => output.output_type === 'error')
            .map(output => `cell ${number}: ${output.ename}: ${output.evalue}`))"""
# A saved panel that no kernel has made alive is a plain picture in the place of its widget.
PANELS_ARE_ALIVE = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets.filter(cell =>
        (cell.model.sharedModel.outputs ?? []).some(o => o.data?.['application/vnd.jupyter.widget-view+json']));
    return cells.every(cell => {
        const pictures = [...cell.node.querySelectorAll('.blocklab-panel :is(img, .blocklab-picture > svg)')];
        return pictures.length > 0 && pictures.every(picture => picture.complete ? picture.naturalWidth > 0
            : picture.querySelector('path, image') !== null);
    });
}"""
# A living panel's picture is what stands in its svg, a plain one's is the address of an image: long texts, of which a
# number is enough.
SEEN = """slider => {
    const panel = slider.closest('.blocklab-panel'), image = panel.querySelector('img');
    const text = image ? image.complete && image.naturalWidth > 0 && image.src
        : panel.querySelector('.blocklab-picture > svg').innerHTML;
    let picture = text && text.length;
    for (let i = 0; i < text.length; i++) picture = (31 * picture + text.charCodeAt(i)) % 4294967291;
    return { line: panel.querySelector('[role=status]').textContent, picture };
}"""
AT_THE_END = """slider => slider.type === 'range' ? slider.value === slider.max
    : slider.getAttribute('aria-valuenow') === slider.getAttribute('aria-valuemax')"""
CHANGED = f"""([slider, before]) => {{
    const now = ({SEEN})(slider);
    return now.picture && (now.line !== before.line || now.picture !== before.picture);
}}"""


def serve_lab(notebooks: Path, home: Path) -> AbstractContextManager[str]:
    """Serve a folder of notebooks and yield the address, as in address.format(path="x.ipynb").

    Settings, runtime files and history are under `home`.
    """
    return serve(LAB, notebooks, home)


def write_notebook(path: Path, cells: list[str]) -> None:
    """A notebook of code cells that knows its kernel, or JupyterLab would ask for one."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code.strip()) for code in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def wait_until(page: Page, holds: str, arg: Any = None) -> None:
    """Wait until a function of the page says so. Asked for each frame, as playwright would, it would slow the page."""
    page.wait_for_function(holds, arg=arg, polling=BETWEEN_LOOKS)


def open_notebook(page: Page, address: str, path: str) -> None:
    """Open a notebook in the page's JupyterLab, which a new page loads first, and wait until its kernel is ready."""
    if page.url == "about:blank":
        load_notebook(page, address, path)
    else:
        page.evaluate(OPEN, path)
        wait_until(page, SHOWS, arg=path)


def load_notebook(page: Page, address: str, path: str) -> None:
    """Load the page anew with a notebook in it, and wait until its kernel is ready."""
    page.goto(address.format(path=path))
    wait_until(page, SHOWS, arg=path)


def close_all(page: Page) -> None:
    """Shut every kernel down and close what is open, unsaved."""
    page.evaluate(CLOSE_ALL)


def run_all(page: Page) -> None:
    """Run all cells and come back when the last has run."""
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    wait_until(page, KERNEL_IS_IDLE)


def save(page: Page) -> None:
    """Save the notebook, and come back when it is saved."""
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")


def list_errors(page: Page) -> list[str]:
    """The errors that stand in the notebook's outputs, but for those of cells that are there to show one."""
    return page.evaluate(ERRORS)


def wait_for_panels(page: Page) -> None:
    """Wait until every panel that the notebook holds is alive and its picture is there."""
    wait_until(page, PANELS_ARE_ALIVE)


def read_panel(slider: Locator) -> dict[str, str | int]:
    """The line under the picture of a slider, and a number of the picture that changes with it."""
    return slider.evaluate(SEEN)


def find_sliders(page: Page) -> Locator:
    """All sliders of the page's panels, and what is dragged in their pictures."""
    return page.locator(".blocklab-panel :is(input[type=range], [role=slider]):visible")


def skip_predictions(page: Page) -> None:
    """Let every panel move whose question has not been answered."""
    skips = page.locator(".blocklab-skip:visible")
    while skips.count():
        skips.first.click()


def press_arrow(slider: Locator) -> None:
    """Move a slider by one step with the keyboard, to the right, or to the left if it stands at its end."""
    at_the_end = slider.evaluate(AT_THE_END)
    slider.focus()
    slider.press("ArrowLeft" if at_the_end else "ArrowRight")


def wait_for_change(page: Page, slider: Locator, before: dict[str, str | int]) -> dict[str, str | int]:
    """Wait until the panel of a slider shows another picture or line, decoded, and return what it shows then."""
    wait_until(page, CHANGED, arg=[slider.element_handle(), before])
    return read_panel(slider)
