"""A kernel that was forked is as any other, but has torch at once, and matplotlib if it is to."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(os.name == "nt", reason="wants fork")]

ASKED = """
import json, os, sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="warm", cwd=sys.argv[1], env={"MARK": "is here", **os.environ})
def said(code, timeout=60):
    out = []
    client.execute_interactive(code, timeout=timeout, output_hook=lambda m: out.append(m["content"]))
    return "".join(content.get("text") or content.get("ename") or "" for content in out)  # a print can come in two

print(json.dumps({
    "there": said("import sys; print(*[name in sys.modules for name in ('torch', 'matplotlib', 'blocklab')])"),
    "path": said("print(repr(sys.path[0]), end='')"),
    "environment": said("import os; print(os.environ['MARK'], os.getcwd())"),
    "threads": said("import torch; print(torch.get_num_threads())"),
    "child": said("import subprocess; print(subprocess.run(['true']).returncode)"),
    "interrupted": said("import os, signal; os.kill(os.getppid(), 0); signal.raise_signal(signal.SIGINT)"),
    "error": said("1 / 0"),
    "at its end": said("import atexit, pathlib; atexit.register(pathlib.Path('ended').touch);"),
}), flush=True)
client.execute("import time; print('slept'); time.sleep(60)")
while client.get_iopub_msg(timeout=60)["content"].get("text", "").strip() != "slept":
    pass
manager.interrupt_kernel()
print(client.get_shell_msg(timeout=60)["content"]["ename"], flush=True)
manager.shutdown_kernel(now=%s)
print(manager.is_alive())
sys.exit(7)
"""


@pytest.mark.parametrize("now", [False, True], ids=["asked to end", "killed"])
def test_a_warm_kernel_is_as_any_other(now, tmp_path):
    script = tmp_path / "asked.py"
    script.write_text(ASKED % now, "utf-8")
    command = [sys.executable, "-m", "workshop.warm_kernels", sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 7, done.stderr
    said, interrupted, alive = done.stdout.splitlines()
    assert json.loads(said) == {
        "there": "True True False\n",
        "path": "''",
        "environment": f"is here {tmp_path}\n",
        "threads": "1\n",
        "child": "0\n",
        "interrupted": "KeyboardInterrupt",
        "error": "ZeroDivisionError",
        "at its end": "",
    }
    assert (interrupted, alive) == ("KeyboardInterrupt", "False")
    assert now or (tmp_path / "ended").exists()
