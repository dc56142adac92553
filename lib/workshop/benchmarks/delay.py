"""A line as slow as one to another continent: a proxy that hands on every byte, both ways, only after a while."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from threading import Thread


async def _hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """What is read is written `seconds` later, in order; one chunk does not wait for the one before it to be due."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def write() -> None:
        while True:
            due, chunk = await waiting.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if not chunk:
                break
            writer.write(chunk)
            await writer.drain()
        writer.close()

    writing = asyncio.create_task(write())
    try:
        while chunk := await reader.read(65536):
            waiting.put_nowait((loop.time() + seconds, chunk))
    except ConnectionError:  # the other side has hung up
        pass
    waiting.put_nowait((loop.time() + seconds, b""))
    try:
        await writing
    except ConnectionError:
        writer.close()


@contextmanager
def delayed(port: int, round_trip: float) -> Iterator[int]:
    """Yield a port of this machine that leads to `port`, half of `round_trip` seconds away in each direction."""
    started: Future[tuple[int, Callable[[], None]]] = Future()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        ways = (reader, far_writer), (far_reader, writer)
        with suppress(asyncio.CancelledError):  # in the end
            await asyncio.gather(*(_hand_on(*way, round_trip / 2) for way in ways))

    async def serve() -> None:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        started.set_result((server.sockets[0].getsockname()[1], lambda: loop.call_soon_threadsafe(ended.set)))
        await ended.wait()
        server.close()

    thread = Thread(target=lambda: asyncio.run(serve()), daemon=True)  # which cancels what is still under way
    thread.start()
    near, end = started.result()
    try:
        yield near
    finally:
        end()
        thread.join(5)
