"""The lifetime of panels in a real kernel whose cells run as in JupyterLab, VS Code, Colab and nbclient."""

import pytest
from jupyter_client.manager import start_new_kernel

SET_UP = '''
import gc, re, weakref
import ipywidgets
from IPython.display import display
from matplotlib.figure import Figure
from blocklab_course import i18n
from blocklab_course.panel import Choice, Panel, Slider, Toggle, backend

figures = weakref.WeakSet()

def picture(figure):
    figures.add(figure)
    line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]
    line.axes.set_ylim(-1, 11)
    def update(height, **_):
        line.set_ydata([height, height])
        return f"height {height}"
    return update

def make():
    return Panel(
        picture, (3, 2), height=Slider(0, 10, 1, value=3), tone=Choice({"a": 1, "b": 2}, None), flag=Toggle(False))

def moved_by_hand(panel, height):
    """Move the slider as a page does."""
    if backend._kind == "plain":
        panel.controls["height"].slider.value = height
    else:
        panel.view.root.set_state({"at": [height, *panel.view.root.at[1:]]})

def shown_in(panel):
    """Return the state of height and tone in the page."""
    if backend._kind == "live":
        return panel.view.root.at[:2]
    return [panel.controls["height"].slider.value, panel.controls["tone"].buttons.index]

def counts():
    gc.collect()
    registry = getattr(ipywidgets.widgets.widget, "_instances", None)
    registry = ipywidgets.Widget.widgets if registry is None else registry  # ipywidgets 7
    comms = get_ipython().kernel.comm_manager.comms
    return len(registry), len(comms), len(figures)

def forget_outputs():
    """Drop the five references that IPython keeps to an output."""
    shell = get_ipython()
    hook = shell.displayhook
    hook._ = hook.__ = hook.___ = None
    Out.clear()
    for names in (shell.user_ns, shell.user_ns_hidden):
        names.update(dict.fromkeys([name for name in names if re.fullmatch(r"_\\d+|_+", name)]))

gc.collect()
gc.freeze()  # exclude existing objects, so that counts() is fast
'''

CLEAR = """
panel = kept = None
forget_outputs()
from blocklab_course.panel import live_panels
live_panels._panels_by_cell.clear()
ipywidgets.Widget.close_all()
"""

FRONT_ENDS = {
    "JupyterLab": lambda cell: {"cellId": cell, "deletedCells": [], "recordTiming": False},
    "VS Code": lambda cell: {"cellId": f"vscode-notebook-cell:{cell}"},
    "Colab": lambda cell: {"colab": {"cell_id": cell}},
    "nbclient": lambda cell: {},
}
SAY_THE_CELL = [name for name in FRONT_ENDS if name != "nbclient"]


class Kernel:
    def __init__(self, client):
        self.client, self.front_end = client, "JupyterLab"

    def run(self, cell, code):
        """Run a cell and return its outputs."""
        content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
        request = self.client.session.msg("execute_request", content, metadata=FRONT_ENDS[self.front_end](cell))
        self.client.shell_channel.send(request)
        outputs = []
        while True:
            message = self.client.get_iopub_msg(timeout=60)
            if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
                continue
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
            assert message["msg_type"] != "error", "\n".join(message["content"]["traceback"])
            if message["msg_type"] in ("display_data", "execute_result"):
                outputs.append(message["content"]["data"])
            elif message["msg_type"] == "stream":
                outputs.append(message["content"]["text"])
        return outputs

    def value(self, code):
        """Evaluate an expression in a separate cell."""
        return eval("".join(self.run("value", f"print(repr({code}))")))


@pytest.fixture(scope="module", params=["live", pytest.param("plain", marks=pytest.mark.exhaustive)])
def process(request):
    manager, client = start_new_kernel(kernel_name="python3")
    kernel = Kernel(client)
    kernel.run("begin", SET_UP + f"backend.set_backend({request.param!r})")
    yield kernel
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def kernel(process):
    """A kernel without panels."""
    process.front_end = "JupyterLab"
    process.run("clear", CLEAR)
    assert process.value("counts()") == (0, 0, 0)
    return process


def view_of(outputs):
    return next(output[VIEW]["model_id"] for output in outputs if VIEW in output)


VIEW = "application/vnd.jupyter.widget-view+json"
CELLS = [
    "make()",
    "panel = make()\npanel",
    "display(make())",
    "panel = make(); display(panel); panel",
    "make()\nmake();\ndisplay(make(), make())",
]


def run_again(kernel, code, times):
    """Return the counts of widgets, comms and figures after the first run of a cell and after more runs."""
    kernel.run("A", code)
    first = kernel.value("counts()")
    for _ in range(times):
        kernel.run("A", code)
    return first, kernel.value("counts()")


@pytest.mark.parametrize("code", CELLS)
def test_rerunning_a_cell_releases_its_panels(kernel, code):
    first, later = run_again(kernel, code, 3)
    assert min(first) > 0
    assert later == first


@pytest.mark.parametrize("front_end", SAY_THE_CELL)
def test_every_front_end_with_cell_ids_releases_panels(kernel, front_end):
    kernel.front_end = front_end
    first, later = run_again(kernel, "make()", 20 if front_end == "JupyterLab" else 2)
    assert later == first


def test_without_cell_ids_panels_are_kept(kernel):
    kernel.front_end = "nbclient"
    kernel.run("A", "kept = make()\nkept")
    kernel.run("A", "make()")
    assert kernel.value("kept.view.root.comm is not None and kept._drawings != {}")


def test_hidden_panel_has_no_widgets_and_is_collected(kernel):
    for _ in range(3):
        kernel.run("A", "panel = make()")
    assert kernel.value("counts()") == (0, 0, 1)


def test_panel_in_two_cells_lives_until_both_rerun(kernel):
    kernel.run("A", "kept = make()\nkept")
    model = view_of(kernel.run("B", "kept"))
    kernel.run("A", "make()")
    assert kernel.value("kept.view.root.model_id") == model
    kernel.run("C", "moved_by_hand(kept, 5)")
    assert kernel.value("kept.line") == "height 5"
    one = kernel.value("counts()")
    kernel.run("B", "make()")
    assert kernel.value("kept._view is None and kept._drawings == {}")
    assert kernel.value("counts()") == one


def test_showing_a_panel_again_keeps_its_widgets(kernel):
    kernel.run("A", "kept = make()")
    models = {view_of(kernel.run("B", "kept")) for _ in range(3)}
    assert len(models) == 1


def test_released_panel_returns_with_its_values(kernel):
    kernel.run("A", "kept = make()\nkept.move(height=7, tone=2)\nkept")
    kernel.run("A", "make()")
    assert kernel.value("kept._view is None")
    assert "height 7" in kernel.run("B", "kept")[0]["text/html"]
    assert kernel.value("shown_in(kept)") == [7, 1]
    kernel.run("C", "moved_by_hand(kept, 2)")
    assert kernel.value("kept.line") == "height 2"


def test_released_panel_can_be_moved_from_code(kernel):
    kernel.run("A", "kept = make()\nkept")
    kernel.run("A", "make()")
    kernel.run("B", "kept.move(height=9)")
    assert kernel.value("kept.line") == "height 9"
    assert "height 9" in kernel.run("C", "kept")[0]["text/html"]


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_close_frees_widgets_comms_and_figure(kernel, front_end):
    kernel.front_end = front_end
    before = kernel.value("counts()")
    kernel.run("A", "kept = make()\nkept")
    kernel.run("B", "kept")
    kernel.run("C", "canvas, root = weakref.ref(kept.canvas), weakref.ref(kept.view.root)\nkept.close()")
    assert kernel.value("counts()") == before
    assert kernel.value("canvas() is root() is None")
    kernel.run("D", "dead = weakref.ref(kept)\ndel kept\nforget_outputs()")
    assert kernel.value("(gc.collect(), dead())[1]") is None


@pytest.mark.parametrize(("chosen", "says"), [("en", "This panel is closed."), ("zh", "这个面板已经关闭。")])
def test_closed_panel_reports_it_when_shown_or_moved(kernel, chosen, says):
    kernel.run("A", f"i18n.set_language({chosen!r})\nkept = make()\ni18n.set_language('en')")
    kernel.run("A", "kept.close(); kept.close()")
    for code in ("kept", "display(kept)"):
        (shown,) = kernel.run("B", code)
        assert shown.keys() == {"text/plain"}
        assert shown["text/plain"].startswith(says)
    for use in (
        "kept.move(height=1)",
        "kept.reset()",
        "list(kept.sweep())",
        "kept.controls['height'].value = 1",
        "kept.view",
    ):
        said = kernel.run("C", f"try: {use}\nexcept RuntimeError as error: print(error)")
        assert "this panel is closed" in said[0]
    assert kernel.value("kept.values['height']") == 3
