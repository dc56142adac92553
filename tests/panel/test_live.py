"""The kernel side of a live panel: requests, answers, and the state of the controls."""

import re
import subprocess
import sys

import pytest

from blocklab_course import i18n
from blocklab_course.i18n import Text
from blocklab_course.panel import Choice, Panel, Slider, Toggle, backend, live_view


@pytest.fixture(autouse=True)
def live(plain, english_again, monkeypatch):  # noqa: ARG001  overrides the fixture `plain`
    monkeypatch.setattr(backend, "_kind", "live")


class Picture:
    """A line at `height` that records its arguments."""

    def __init__(self):
        self.calls, self.figures = [], []

    def __call__(self, figure):
        self.figures.append(figure)
        line = figure.subplots().plot([0, 1], [0, 0], animated=True)[0]
        line.axes.set_ylim(-1, 11)

        def update(height, **others):
            self.calls.append({"height": height, **others})
            line.set_ydata([height, height])
            if height == 7:
                raise ArithmeticError("seven never works")
            if height == 8:
                raise KeyboardInterrupt
            return f"height {height}"

        return update


class Page:
    """A shown panel, and the messages that a page would receive."""

    def __init__(self, **controls):
        self.picture = Picture()
        height = Slider(0, 10, 1, value=3, label=Text(en="height", zh="高度"))
        self.panel = Panel(self.picture, (3, 2), height=height, **controls)
        self.root = self.panel.view.root
        self.got = []
        self.root.send = lambda content, buffers=None: self.got.append(content)
        self.picture.calls.clear()

    def ask(self, at, **more):
        """Request a state and return the answer, or None."""
        self.got.clear()
        self.panel.view._on_message(self.root, {"kind": "ask", "at": at, "ahead": False, "whole": False, **more}, [])
        return self.got[-1] if self.got else None

    def goes(self, at):
        """Move the controls as the reader does."""
        self.root.set_state({"at": at})


def needed(drawing, records):
    """Return all records that a drawing refers to, found as a page would."""
    wanted = [drawing["rest"], drawing["handles"], *(number for slot in drawing["moving"] for number in slot)]
    seen = set()
    while wanted:
        number = wanted.pop()
        if number and number not in seen:
            seen.add(number)
            wanted += references(records[str(number)])
    return seen


def references(record):
    kind, *rest = record
    places = {"rest": rest[0], "path": [*rest[:2], *rest[3:]], "marks": rest[:2], "tint": rest[:2], "image": rest[:1]}
    if kind == "text":
        return [*rest[:2], *rest[3][::3]]
    return places.get(kind, [])


def test_first_packet_contains_all_records():
    page = Page()
    first = page.root.first
    assert first["line"] == "height 3"
    assert needed(first, first["new"]) == {int(number) for number in first["new"]}


def test_answer_contains_only_new_records_and_does_not_move_the_panel():
    page = Page()
    known = dict(page.root.first["new"])
    answer = page.ask([5])
    assert answer["kind"] == "state"
    assert (answer["at"], answer["line"], answer["ahead"]) == ([5], "height 5", False)
    assert answer["new"]
    assert not answer["new"].keys() & known.keys()
    assert needed(answer, known | answer["new"])
    assert page.ask([5])["new"] == {}
    assert page.panel.values == {"height": 3}
    assert page.panel.line == "height 3"


def test_whole_request_returns_all_records():
    page = Page()
    answer = page.ask([3], whole=True)
    assert answer["new"] == page.root.first["new"]


@pytest.mark.parametrize("at", [[], [3, 0], [11], [-1], [2.0], ["3"], None], ids=repr)
def test_ignores_requests_for_invalid_states(at):
    page = Page()
    page.root._handle_custom_msg({"kind": "ask", "at": at}, [])
    assert page.got == []
    assert page.picture.calls == []


def test_ignores_unknown_messages():
    page = Page()
    page.root._handle_custom_msg({"kind": "tell", "at": [3]}, [])
    assert page.got == []


def test_move_by_reader_does_not_redraw():
    page = Page(flag=Toggle(False), tone=Choice({"a": 1, "b": 2}, None))
    page.goes([5, 1, 1])
    assert page.panel.values == {"height": 5, "flag": True, "tone": 2}
    assert page.picture.calls == []
    assert page.panel.line == "height 5"
    assert page.picture.calls == [{"height": 5, "flag": True, "tone": 2}]


@pytest.mark.parametrize("at", [[11, 0, 0], [3, 2, 0], [3, 0, 2], [3, 0, -2]], ids=repr)
def test_ignores_moves_to_invalid_states(at):
    page = Page(flag=Toggle(False), tone=Choice({"a": 1, "b": 2}, None))
    page.goes(at)
    assert page.panel.values == {"height": 3, "flag": False, "tone": None}


def test_move_from_code_sends_the_drawing_before_the_state():
    page = Page()
    told = []
    page.root.observe(lambda change: told.append((change["new"], len(page.got))), "at")
    page.panel.move(height=6)
    assert [(packet["at"], packet["line"]) for packet in page.got] == [([6], "height 6")]
    assert told == [([6], 1)]
    assert len(page.picture.calls) == 1


def test_canvas_shows_the_current_values():
    page = Page()
    page.ask([5])
    page.goes([4])
    (line,) = page.panel.canvas.figure.axes[0].lines
    assert list(line.get_ydata()) == [4, 4]


@pytest.mark.parametrize(("chosen", "says"), [("en", "could not be drawn"), ("zh", "无法画出图像")])
def test_error_is_sent_and_next_request_recovers(chosen, says):
    i18n.set_language(chosen)
    page = Page()
    i18n.set_language("en")
    answer = page.ask([7], ahead=True)
    assert answer["failed"]
    assert "new" not in answer
    assert says in answer["line"]
    assert "height = 7" in answer["line"]
    with pytest.raises(ArithmeticError):
        page.ask([7])
    assert page.got[-1]["failed"]
    assert page.ask([9])["line"] == "height 9"
    assert page.panel.values == {"height": 3}


def test_interrupt_is_sent_and_raised():
    page = Page()
    with pytest.raises(KeyboardInterrupt):
        page.ask([8], ahead=True)
    assert "Interrupted" in page.got[-1]["line"]
    assert page.ask([9])["line"] == "height 9"


def test_error_in_move_from_code_is_sent_and_raised():
    page = Page()
    with pytest.raises(ArithmeticError):
        page.panel.move(height=7)
    assert page.got[-1]["failed"]
    assert page.got[-1]["at"] == [7]
    page.panel.move(height=6)
    assert page.got[-1]["line"] == "height 6"


def test_update_cannot_move_its_panel_during_a_request():
    def picture(_figure):
        def update(height):
            if height == 5:
                panel.move(height=1)
            return f"height {height}"

        return update

    panel = Panel(picture, (3, 2), height=Slider(0, 10, 1, value=3))
    sent = []
    panel.view.root.send = lambda content, buffers=None: sent.append(content)
    panel.view.root._handle_custom_msg({"kind": "ask", "at": [5], "ahead": True}, [])
    assert "must not move the controls" in sent[-1]["line"]


def test_spec_describes_the_controls():
    page = Page(
        fine=Slider(0.0, 1.0, 0.1, value=0.3),
        log=Slider(1, 64, 2, value=4, log=True),
        tone=Choice({Text(en="up", zh="上"): 1, "b": 2}, None),
        flag=Toggle(True),
    )
    spec = page.root.spec
    assert spec["size"] == [300, 200]
    height, fine, log, tone, flag = spec["controls"]
    assert height == {
        "kind": "slider", "name": "height", "label": "height", "at": 3,
        "start": 0, "step": 1, "last": 10, "log": False, "whole": True,
    }  # fmt: skip
    assert (fine["at"], fine["last"], fine["whole"]) == (3, 10, False)
    assert (log["at"], log["last"], log["log"]) == (2, 6, True)
    assert (tone["kind"], tone["options"], tone["at"]) == ("choice", ["up", "b"], -1)
    assert (flag["kind"], flag["at"]) == ("toggle", 1)


@pytest.mark.parametrize(("said", "ahead"), [(None, True), ("1", True), ("0", False)])
def test_environment_variable_disables_prefetching(said, ahead, monkeypatch):
    monkeypatch.delenv("BLOCKLAB_AHEAD", raising=False)
    if said:
        monkeypatch.setenv("BLOCKLAB_AHEAD", said)
    assert Page().root.spec["ahead"] is ahead


def test_panels_of_one_picture_are_independent():
    one, other = Page(), Page()
    assert one.ask([5])["new"]
    assert other.ask([5])["new"]
    one.goes([6])
    assert other.panel.values == {"height": 3}


def test_falls_back_to_plain_view_without_anywidget(monkeypatch):
    monkeypatch.setitem(sys.modules, "blocklab_course.panel.live_view", None)
    with pytest.raises(ModuleNotFoundError):
        assert Panel(Picture(), (3, 2), height=Slider(0, 10, 1, value=3)).view
    monkeypatch.delitem(sys.modules, "blocklab_course.panel.live_view")
    monkeypatch.setitem(sys.modules, "anywidget", None)
    assert Panel(Picture(), (3, 2), height=Slider(0, 10, 1, value=3)).view.image


def test_script_inlines_its_imports():
    said = live_view.script()
    assert live_view.Live._esm == said
    assert re.findall(r"^import\b|\bimport\(|\bfrom \"", said, re.MULTILINE) == []
    assert "export function handlesOf(" in said


def test_script_files_stay_small():
    sizes = {file.name: len(file.read_text("utf-8").splitlines()) for file in live_view.HERE.glob("*.js")}
    assert max(sizes.values()) < 900, sizes


THOUSAND = """
import gc, sys
from blocklab_course.panel import Panel, Slider
from blocklab_course.panel.display_list import DisplayList

DisplayList.__init__.__defaults__ = (20_000,)  # characters, so that it fills quickly

def picture(figure):
    axes = figure.subplots()
    line = axes.plot([0, 8], [0, 8], animated=True)[0]
    def update(k):
        line.set_ydata([k / 1000, k % 8])
        if k % 50 == 0:
            axes.set_title(f"k = {k}")
        return f"k = {k}"
    return update

panel = Panel(picture, size=(3, 2), k=Slider(0, 10000, 1, value=0))
root = panel.view.root
failed = []
root.send = lambda content, buffers=None: failed.append(content) if "failed" in content else None
def ask(k):
    root._handle_custom_msg({"kind": "ask", "at": [k], "ahead": True}, [])
def used(moves):
    for k in moves:
        ask(k)
    panel.canvas.records.forget_all_but(panel.canvas.strokes().uses(panel.canvas.records))
    ask(0)
    gc.collect()
    return sys.getallocatedblocks()
used(range(0, 10000, 20))
print(used(range(1000)), used(range(1000, 2000)), len(failed))
"""


@pytest.mark.exhaustive
def test_a_thousand_requests_leak_no_memory():
    ran = subprocess.run([sys.executable, "-c", THOUSAND], capture_output=True, text=True, check=True)
    before, after, failed = map(int, ran.stdout.split())
    assert failed == 0
    assert abs(after - before) < 300  # Python memory blocks; a leak of one per three requests would show


def test_narrow_page_gets_its_own_arrangement():
    page = Page(narrow=(2, 4))
    assert page.root.spec["narrow"] == [200, 400]
    assert (page.root.first["narrow"], page.ask([5])["narrow"]) == (False, False)
    known = dict(page.root.first["new"])
    answer = page.ask([5], narrow=True)
    assert (answer["narrow"], answer["line"]) == (True, "height 5")
    assert [figure.get_size_inches().tolist() for figure in page.picture.figures] == [[3, 2], [2, 4]]
    assert not answer["new"].keys() & known.keys()
    assert needed(answer, known | answer["new"])
    page.panel.move(height=6)  # the page is still narrow
    assert (page.got[-1]["narrow"], page.got[-1]["at"]) == (True, [6])
    page.panel.release()
    assert page.panel.view.root.first["narrow"] is False


def test_arrangements_redraw_records_that_the_other_dropped():
    page = Page(narrow=(2, 4))
    wide, narrow = (page.ask([5], narrow=narrow, whole=True) for narrow in (False, True))
    page.panel.canvas.records._limit = 0  # keep only what was drawn last
    for _ in range(2):
        for expected, is_narrow in ((wide, False), (narrow, True)):
            found = page.ask([5], narrow=is_narrow, whole=True)
            assert needed(found, found["new"])
            assert len(found["new"]) == len(expected["new"])


@pytest.mark.parametrize("narrow", [True, False, None, "yes", 1])
def test_panel_with_one_arrangement_answers_every_page_with_it(narrow):
    answer = Page().ask([5], narrow=narrow)
    assert (answer["narrow"], answer["line"]) == (False, "height 5")


def test_error_in_one_arrangement_does_not_show_in_the_other():
    page = Page(narrow=(2, 4))
    with pytest.raises(ArithmeticError):
        page.ask([7], narrow=True)
    assert (page.got[-1]["failed"], page.got[-1]["narrow"]) == (True, True)
    assert page.ask([5], narrow=False)["line"] == "height 5"
