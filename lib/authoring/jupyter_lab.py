"""Drive a JupyterLab page: open and run notebooks, move sliders, and wait for panels."""

from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import Locator, Page

POLLING = 50  # milliseconds
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
        if (widget.context) widget.context.model.dirty = false;  // or JupyterLab asks whether to save
        widget.close();
    }
}"""
ERRORS = """() => window.jupyterapp.shell.currentWidget.content.widgets.flatMap((cell, number) =>
    (cell.model.getMetadata('tags') ?? []).includes('raises-exception') ? [] :
        (cell.model.sharedModel.outputs ?? []).filter(output => output.output_type === 'error')
            .map(output => `cell ${number}: ${output.ename}: ${output.evalue}`))"""
# A saved panel without a kernel is a plain picture instead of a widget.
PANELS_ARE_ALIVE = """() => {
    const cells = window.jupyterapp.shell.currentWidget.content.widgets.filter(cell =>
        (cell.model.sharedModel.outputs ?? []).some(o => o.data?.['application/vnd.jupyter.widget-view+json']));
    return cells.every(cell => {
        if (cell.node.querySelector('.blocklab-alone')) return true; // a question without a picture
        const pictures = [...cell.node.querySelectorAll('.blocklab-panel :is(img, .blocklab-picture > svg)')];
        return pictures.length > 0 && pictures.every(picture => picture.complete ? picture.naturalWidth > 0
            : picture.querySelector('path, image') !== null);
    });
}"""
# The line under the picture, and a hash of the picture: an SVG in live panels, an image in fallback panels.
READ_PANEL = """slider => {
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
    const now = ({READ_PANEL})(slider);
    return now.picture && (now.line !== before.line || now.picture !== before.picture);
}}"""


def write_notebook(path: Path, cells: list[str]) -> None:
    """Write a notebook of code cells that names its kernel, or JupyterLab would ask for one."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code.strip()) for code in cells])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)


def wait_until(page: Page, holds: str, arg: Any = None) -> None:
    """Wait until a JavaScript function returns true. Playwright's default, every frame, slows the page down."""
    page.wait_for_function(holds, arg=arg, polling=POLLING)


def open_notebook(page: Page, address: str, path: str) -> None:
    """Open a notebook, in a new page after loading JupyterLab, and wait until its kernel is ready."""
    if page.url == "about:blank":
        load_notebook(page, address, path)
    else:
        page.evaluate(OPEN, path)
        wait_until(page, SHOWS, arg=path)


def load_notebook(page: Page, address: str, path: str) -> None:
    """Reload the page with a notebook in it, and wait until its kernel is ready."""
    page.goto(address.format(path=path))
    wait_until(page, SHOWS, arg=path)


def close_all(page: Page) -> None:
    """Shut down every kernel and close all notebooks without saving."""
    page.evaluate(CLOSE_ALL)


def run_all(page: Page) -> None:
    """Run all cells, and wait until they have run."""
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
    wait_until(page, KERNEL_IS_IDLE)


def save(page: Page) -> None:
    """Save the notebook, and wait until it is saved."""
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")


def list_errors(page: Page) -> list[str]:
    """The errors in the notebook's outputs, except in cells tagged raises-exception."""
    return page.evaluate(ERRORS)


def wait_for_panels(page: Page) -> None:
    """Wait until every panel in the notebook is live and shows its picture."""
    wait_until(page, PANELS_ARE_ALIVE)


def read_panel(slider: Locator) -> dict[str, str | int]:
    """The line under the picture of a slider's panel, and a hash of the picture."""
    return slider.evaluate(READ_PANEL)


def find_sliders(page: Page) -> Locator:
    """All sliders of the page's panels, and the handles in their pictures."""
    return page.locator(".blocklab-panel :is(input[type=range], [role=slider]):visible")


def skip_predictions(page: Page) -> None:
    """Skip every open prediction, which unlocks the panels."""
    skips = page.locator(".blocklab-skip:visible")
    while skips.count():
        skips.first.click()


def press_arrow(slider: Locator) -> None:
    """Move a slider by one step with the keyboard: to the right, or at its end to the left."""
    at_the_end = slider.evaluate(AT_THE_END)
    slider.focus()
    slider.press("ArrowLeft" if at_the_end else "ArrowRight")


def wait_for_change(page: Page, slider: Locator, before: dict[str, str | int]) -> dict[str, str | int]:
    """Wait until the panel of a slider shows another picture or line, and return them."""
    wait_until(page, CHANGED, arg=[slider.element_handle(), before])
    return read_panel(slider)
