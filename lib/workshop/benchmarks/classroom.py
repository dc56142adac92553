"""A class of 30 on two cores, who drag a slider now and then: what that takes of the cores, and how long each waits.

Real: a Jupyter server; a kernel for each student, with lesson 02's main panel open (where memory or time is short,
students share those that are there); the player of `panel.js`, which asks and asks ahead, for each student in a
document of its own. Simulated: the hands. Once a minute, at a moment drawn by lot, a student moves another control, so
that nothing that follows is known, and then drags the slider to three places, one after the other, and looks at each.
What pages paint is left out, for the students' machines do that.

Processor time is that of server and kernels, which are held to the two cores; the browser with all the players runs
beside them. Run: OMP_NUM_THREADS=1 python -m workshop.benchmarks.classroom
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import fmean, median, quantiles

import psutil
from playwright.sync_api import Page

from workshop import lab
from workshop.chromium import chromium

STUDENTS, CORES = 30, 2
EVERY = 60  # seconds from one drag of a student to the next
STROKES, STROKE, LOOK = 3, 0.6, 0.4  # of a drag: how many, seconds of each, and seconds that the hand rests after it
WATCHED = 30  # seconds of a class
ALONE, APART = 4, 4  # drags while nobody else does anything, one every so many seconds
STARTING = 50  # seconds after which no more kernels are started
KERNEL = 400e6  # bytes that one may take
HELD, ASIDE = "push", "cell"  # the slider that is dragged, and the control that is moved before

PANELS = """
from blocklab.lessons import begin
from blocklab.lessons.norm_axes import poke_one_number
begin("en")
panels = [poke_one_number.panel() for _ in range({seats})]
for panel in panels:
    panel.view
"""
START = """async ([wanted, seconds, code]) => {
    const { kernels } = window.jupyterapp.serviceManager;
    const late = performance.now() + 1000 * seconds;
    let left = wanted;
    window.started = [];
    const start = async () => {
        while (left-- > 0 && performance.now() < late) {
            const kernel = await kernels.startNew({ name: 'python3' });
            await kernel.requestExecute({ code }).done;
            started.push(kernel);
        }
    };
    await Promise.all([start(), start()]);  // two at a time
    return started.length;
}"""
SIT_DOWN = """async ([students, code, aside]) => {
    window.seats = [];
    window.pause = ms => new Promise(done => setTimeout(done, ms));
    const sit = async (comm, { _esm, spec, at, first }) => {
        // Of its own, for panels of one document share what they keep, and only the one in hand asks ahead.
        const { contentWindow } = document.body.appendChild(document.createElement('iframe'));
        window.file ??= URL.createObjectURL(new Blob([_esm], { type: 'text/javascript' }));
        const { Player } = await contentWindow.eval(`import('${file}')`);
        const seat = { asked: 0, right: 0, seen: new Set() };  // when it asked last, and when the picture was right
        const ask = (at, ahead, whole) => {
            seat.asked = performance.now();
            comm.send({ method: 'custom', content: { kind: 'ask', at, ahead, whole } });
        };
        // As ipywidgets does: the next move is told once the kernel is idle again, and only the latest.
        let telling = false, next = null;
        const moved = async at => {
            for (next = at; next && !telling; telling = false) {
                const state = { at: next };
                [telling, next] = [true, null];
                await comm.send({ method: 'update', state, buffer_paths: [] }).done;
            }
        };
        const player = seat.player = new Player(spec, at, { ask, moved }, first);
        comm.onMsg = ({ content: { data } }) => { if (data.method === 'custom') player.receive(data.content); };
        const show = () => {
            if (player.shown) seat.seen.add(player.shown.key);
            if (!player.waiting) seat.right = performance.now();
        };
        player.enter({ show });
        player.answered(-1);
        seat.index = name => spec.controls.findIndex(control => control.name === name);
        player.move(seat.index(aside), 0);
        seats.push(seat);
    };
    for (const kernel of started) {
        const opened = [];
        kernel.registerCommTarget('jupyter.widget', (comm, { content }) => {
            if (content.data.state._esm) opened.push([comm, content.data.state]);
        });
        const { content } = await kernel.requestExecute({ code }).done;
        if (content.status !== 'ok') throw new Error(content.evalue);
        for (const panel of opened) if (seats.length < students) await sit(...panel);
    }
}"""
LESSON = """async ([drags, stroke, look, ahead, held, aside]) => {
    const drag = async ({ student, after, other, places }) => {
        const seat = seats[student], { player, index } = seat, found = [];
        player.spec.ahead = ahead;
        const lastOf = name => player.spec.controls[index(name)].last;
        await pause(1000 * after);
        player.move(index(aside), Math.round(other * lastOf(aside)));
        for (const place of places) {
            const from = player.at[index(held)], to = Math.round(place * lastOf(held)), begun = performance.now();
            let now = begun;
            seat.seen.clear();
            do {
                await pause(16);
                now = performance.now();
                const share = Math.min(1, (now - begun) / 1000 / stroke);
                player.move(index(held), Math.round(from + share * (to - from)));
            } while (now - begun < 1000 * stroke);
            const pictures = seat.seen.size;
            while (player.waiting) await pause(5);
            found.push({ wait: Math.max(0, seat.right - now), pictures });
            await pause(1000 * look);
        }
        return found;
    };
    const found = await Promise.all(drags.map(drag));
    while (seats.some(({ asked }) => performance.now() - asked < 1000)) await pause(100);
    return found.flat();
}"""


def within(page: Page, seconds: float, script: str, *given) -> object:
    """What a script of the page returns; raises if that takes longer."""
    late = f"new Promise((_, fail) => setTimeout(() => fail('not done in {seconds} s'), {1000 * seconds}))"
    return page.evaluate(f"given => Promise.race([({script})(given), {late}])", list(given))


def drag(chance: Random, student: int, after: float) -> dict:
    """A drag that begins so many seconds from now. Places are shares of their control."""
    places = [chance.random() for _ in range(STROKES)]
    return {"student": student, "after": after, "other": chance.random(), "places": places}


def lessons(chance: Random) -> dict[str, list[dict]]:
    """The drags of one student after another, and those of a class, of whom nobody drags twice."""
    dragging = chance.sample(range(STUDENTS), round(STUDENTS * WATCHED / EVERY))
    return {
        "one alone": [drag(chance, student, APART * number) for number, student in enumerate(range(ALONE))],
        "the class": [drag(chance, student, chance.uniform(0, WATCHED)) for student in dragging],
    }


@contextmanager
def on_cores(number: int) -> Iterator[None]:
    """What is started inside, and all that it starts, has so many cores, where the system can hold it to them."""
    if not hasattr(os, "sched_setaffinity"):
        print("This system holds no process to some of its cores: all are used.")
        yield
        return
    mine = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(mine)[:number])
    try:
        yield
    finally:
        os.sched_setaffinity(0, mine)


def processor_seconds(server: psutil.Process) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in (server, *server.children(recursive=True)))


def report(name: str, found: list[dict], alone: float, seconds: float) -> None:
    """A line of the table: what was found at each stop of a hand, and the processor seconds of a drag."""
    waits = [stop["wait"] for stop in found]
    late, share = quantiles(waits, n=20, method="inclusive")[-1], seconds * STUDENTS / EVERY / CORES
    print(
        f"  {name:10}{len(waits):6}{median(waits):8.0f}{late:7.0f}{max(waits):9.0f}{late / max(alone, 1):10.2f}"
        f"{fmean(stop['pictures'] for stop in found) / STROKE:10.0f}{seconds:9.2f}"
        f"{share:7.0%}{'' if share < 1 else '  NOT MET'}",
        flush=True,
    )


def measure(page: Page, server: psutil.Process) -> None:
    kernels = min(STUDENTS, int(psutil.virtual_memory().available / 2 / KERNEL))
    kernels = within(page, 2 * STARTING, START, kernels, STARTING, "import blocklab.lessons.norm_axes.poke_one_number")
    seats = -(-STUDENTS // kernels)
    within(page, STARTING, SIT_DOWN, STUDENTS, PANELS.format(seats=seats), ASIDE)
    taken = median(kernel.memory_full_info().uss for kernel in server.children())
    print(f"{STUDENTS} students in {kernels} kernels of {taken / 1e6:.0f} MB each, on {CORES} cores")
    print(f"each drags once in {EVERY} s: {STROKES} strokes of {STROKE} s")
    print("wait: ms from the end of a stroke until its state is there; of alone: 95 % against one student's")
    print("pictures: a second while a hand moves; seconds: of processor time, for a drag with all that it asks ahead")
    print(f"cores: share that {STUDENTS} such students take; wanted: less than all of them")
    chance = Random(0)
    for ahead in (True, False):
        print("asked ahead" if ahead else "BLOCKLAB_AHEAD=0")  # which the player is told in `spec`
        print("              stops  median   95 %  longest  of alone  pictures  seconds  cores")
        alone = None
        for name, drags in lessons(chance).items():
            before = processor_seconds(server)
            found = within(page, 3 * WATCHED, LESSON, drags, STROKE, LOOK, ahead, HELD, ASIDE)
            alone = alone or quantiles([stop["wait"] for stop in found], n=20, method="inclusive")[-1]
            report(name, found, alone, (processor_seconds(server) - before) / len(drags))


def main() -> None:
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        lab.write_notebook(root / "class" / "class.ipynb", [""])
        with on_cores(CORES):
            address = stack.enter_context(lab.jupyter_lab(root / "class", root / "home"))
        (server,) = psutil.Process().children()
        page = stack.enter_context(chromium()).new_page()
        page.set_default_timeout(60_000)
        lab.open_notebook(page, address, "class.ipynb")
        measure(page, server)


if __name__ == "__main__":
    main()
