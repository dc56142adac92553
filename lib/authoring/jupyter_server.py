"""Start Jupyter servers for browser tests and benchmarks, isolated from the user's settings."""

import json
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

LIB = Path(__file__).parents[1]
SETTINGS = {  # of JupyterLab and Notebook 7
    "notebook-extension/tracker": {"windowingMode": "none"},  # render all cells, not only those in view
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "apputils-extension/themes": {"theme": "JupyterLab Light"},
}


@dataclass(frozen=True)
class Program:
    """A Python module that serves notebooks, its options, and the address of a notebook."""

    module: str
    options: tuple[str, ...]  # with {port}, {token}, {folder}
    address: str  # with {path}, {token}


OF_SERVER = ("--ServerApp.port_retries=0", "--IdentityProvider.token={token}", "--ServerApp.root_dir={folder}")
OF_NOTEBOOK_6 = ("--NotebookApp.port_retries=0", "--NotebookApp.token={token}", "--NotebookApp.notebook_dir={folder}")
LAB = Program(
    "jupyterlab",
    ("--allow-root", *OF_SERVER, "--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"),
    "lab/tree/{path}?token={token}&reset",
)
NOTEBOOK_7 = Program(
    "notebook",
    ("--allow-root", *OF_SERVER, "--JupyterNotebookApp.expose_app_in_browser=True"),
    "notebooks/{path}?token={token}",
)
NOTEBOOK_6 = Program("notebook", ("--allow-root", *OF_NOTEBOOK_6), "notebooks/{path}?token={token}")


@contextmanager
def serve(
    program: Program,
    folder: Path,
    home: Path,
    python: Path | str = sys.executable,
    kernel: Path | str = sys.executable,
) -> Iterator[str]:
    """Serve a folder of notebooks and yield the address, as in address.format(path="x.ipynb").

    Settings, runtime files and history are under `home`. `python` runs the program, `kernel` the notebooks' cells.
    """
    argv = [str(kernel), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}
    write_json(home / "shared" / "kernels" / "python3" / "kernel.json", spec)
    for name, settings in SETTINGS.items():
        write_json(home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings", settings)
    own = {
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_PATH": home / "shared",  # takes precedence over the kernel of the environment
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
        "PYTHONPATH": LIB,  # also where the kernel's environment has the package from a wheel
    }
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    options = ("--no-browser", "--ip=127.0.0.1", "--port={port}", *program.options)
    filled = [option.format(port=port, token=token, folder=folder) for option in options]
    server = subprocess.Popen(
        [python, "-m", program.module, *filled],
        env={**os.environ, **{name: str(path) for name, path in own.items()}},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    try:
        output = []
        for line in server.stdout:
            output.append(line)
            if "is running at" in line:
                break
        else:
            raise RuntimeError(f"{program.module} did not start:\n" + "".join(output[-20:]))
        # Keep reading, or the server blocks when the pipe is full.
        reader = Thread(target=lambda: [None for _ in server.stdout], daemon=True)
        reader.start()
        yield f"http://127.0.0.1:{port}/{program.address.format(path='{path}', token=token)}"
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def write_json(file: Path, what: dict) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(what), "utf-8")
