"""Warm kernels, torch and matplotlib imported: `python -m workshop.warm_kernels COMMAND …` runs a command with them.

To import both takes a kernel more than most lessons take. One process imports them, and forks into each kernel that
Jupyter asks for by the name "warm"; where the first import itself is tested, kernels are Jupyter's own. This file runs
alone, too: `python -P FILE …`.
"""

import atexit
import json
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

NAME = "warm"
OF_JUPYTER = "ipykernel.kernelapp", "ipykernel.ipkernel", "ipykernel.debugger", "psutil", "tornado.platform.asyncio"
OF_IPYTHON = "IPython", "IPython.core.completerlib", "IPython.extensions.storemagic", "ipywidgets", "anywidget"
OF_DEBUGGER = ("-Xfrozen_modules=off",)  # what kernels are started with, or their debugger warns
OF_TRAINING = ("torch._dynamo",)  # an optimizer asks for it
OF_PICTURES = "matplotlib.figure", "matplotlib.backends.backend_agg", "matplotlib.legend", "PIL.PngImagePlugin"
PRELOADED = ("torch", *OF_TRAINING, *OF_JUPYTER, *OF_IPYTHON, *OF_PICTURES)
BACKEND = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}  # as kernels set it, before matplotlib is there
FORWARDED = (signal.SIGINT, signal.SIGTERM)
MOST = 2**20  # bytes of what a kernel is told


def launching() -> list[str]:
    """How Jupyter starts a warm kernel; nothing where this process was not started to have them."""
    from jupyter_client import kernelspec  # here, for a kernel's launcher is to start at once

    try:
        return kernelspec.get_kernel_spec(NAME).argv
    except kernelspec.NoSuchKernel:
        return []


def run(command: list[str]) -> int:
    """Run a command whose Jupyter finds the kernel; return how it ended."""
    import subprocess  # here, for a kernel's launcher is to start at once
    import tempfile

    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        address = f"{folder}/socket"
        listener.bind(address)
        listener.listen()
        spec = Path(folder) / "kernels" / NAME / "kernel.json"
        spec.parent.mkdir(parents=True)
        argv = [sys.executable, "-I", "-S", __file__, "launch", address, "{connection_file}"]
        spec.write_text(json.dumps({"argv": argv, "display_name": NAME, "language": "python"}), "utf-8")
        environment = os.environ | {"OMP_NUM_THREADS": "1", "JUPYTER_PATH": folder}  # torch reads the former at import
        serving = [sys.executable, *OF_DEBUGGER, "-P", __file__, "serve", str(listener.fileno())]
        forking = subprocess.Popen(serving, env=BACKEND | environment, pass_fds=[listener.fileno()])
        try:
            return subprocess.run(command, env=environment).returncode
        finally:
            forking.terminate()
            forking.wait()


def serve(listener: socket.socket) -> None:
    """Import what is to be there, then become a kernel for each launcher that connects."""
    for module in PRELOADED:
        __import__(module)
    signal.signal(signal.SIGCHLD, reap)
    while True:
        launcher, _ = listener.accept()
        with launcher:
            pid = os.fork()
            if pid == 0:
                listener.close()
                become_kernel(launcher)
                return
            launcher.sendall(str(pid).encode())


def reap(_number: int, _frame: object) -> None:
    """Let go of the kernels that have ended: what they used of the processor is added up."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def become_kernel(launcher: socket.socket) -> None:
    """Run a kernel in this process, as the launcher would have: its folder, environment and output. It ends with it."""
    from threading import Thread

    from ipykernel.kernelapp import IPKernelApp

    said, streams, *_ = socket.recv_fds(launcher, MOST, 3)
    while not said.endswith(b"\n"):
        said += launcher.recv(MOST)
    told = json.loads(said)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    watched = f"--IPKernelApp.parent_handle={os.getppid()}"  # whose end is to end it, too
    sys.argv = ["ipykernel_launcher", "-f", told["connection_file"], watched]
    sys.path.insert(0, "")  # as with -m
    Thread(target=lambda: launcher.recv(1) or os._exit(1), daemon=True).start()
    IPKernelApp.launch_instance()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)  # to take down all that was imported would take as long as to start


def launch(address: str, connection_file: str) -> None:
    """What Jupyter starts: ask for a kernel, hand signals on to it, and stay until it has ended."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        told = {"folder": os.getcwd(), "environment": dict(os.environ), "connection_file": connection_file}
        socket.send_fds(server, [json.dumps(told).encode() + b"\n"], [0, 1, 2])
        kernel = int(server.recv(32))
        for number in FORWARDED:
            signal.signal(number, lambda number, _frame: os.kill(kernel, number))
        server.recv(1)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["launch", address, connection_file]:
            launch(address, connection_file)
        case ["serve", descriptor]:
            serve(socket.socket(fileno=int(descriptor)))
        case command:
            sys.exit(run(command))
