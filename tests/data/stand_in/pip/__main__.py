"""Stands in for pip: what it installs are empty packages, and the network is there or not, as STAND_IN_NETWORK says.

With STAND_IN_STOP, the name of a pipe, it stops with the first package half installed until the pipe is read, and
goes on when something is written into it.
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

PACKAGES = Path(__file__).parents[1]
PROGRAM = "import json, os, sys\nprint(json.dumps([__package__, *sys.argv[1:], os.environ.get('READ')]))\n"


def lines(file: str) -> list[str]:
    return [line for line in Path(file).read_text("utf-8").splitlines() if "==" in line]


def install(arguments: list[str]) -> None:
    words = iter(arguments)
    pins, wanted = {}, []
    for word in words:
        if word == "-c":
            pins |= dict(line.split("==") for line in lines(next(words)))
        elif word == "-r":
            wanted += lines(next(words))
        elif not word.startswith("-"):
            wanted.append(word)
    exact = dict(line.split("==") for line in wanted if "==" in line and ";" not in line)
    names = [re.match(r"[\w.-]+", line)[0] for line in wanted]
    versions = {name: exact.get(name) or pins.get(name, "*") for name in names}
    missing = [name for name in names if not any(PACKAGES.glob(f"{name}-{versions[name]}.dist-info"))]
    if missing and "--no-index" in arguments:
        sys.exit(f"ERROR: No matching distribution found for {missing[0]}")
    if missing and (trouble := os.environ.get("STAND_IN_NETWORK")):
        sys.exit(trouble.replace("$PIP_RETRIES", f"tries: {os.environ['PIP_RETRIES']}"))
    for name in missing:
        put(name, versions[name].replace("*", "1"))


def put(name: str, version: str) -> None:
    for old in PACKAGES.glob(f"{name}-*.dist-info"):
        shutil.rmtree(old)
    module, note = PACKAGES / name, PACKAGES / f"{name}-{version}.dist-info"
    module.mkdir(exist_ok=True)
    note.mkdir()
    (note / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n", "utf-8")
    pipe = Path(os.environ.get("STAND_IN_STOP", "no pipe"))
    if pipe.exists():
        pipe.write_text("stopped", "utf-8")
        pipe.read_text("utf-8")
        pipe.unlink()
    (module / "__init__.py").write_text("", "utf-8")
    (module / "__main__.py").write_text(PROGRAM, "utf-8")
    files = (f"{name}/__init__.py", f"{name}/__main__.py", f"{note.name}/RECORD")
    (note / "RECORD").write_text("".join(f"{file},,\n" for file in files), "utf-8")


def main() -> None:
    if log := os.environ.get("STAND_IN_LOG"):
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(json.dumps(sys.argv[1:]) + "\n")
    if sys.argv[1] == "install":
        install(sys.argv[2:])
    elif sys.argv[1] == "uninstall":
        for note in PACKAGES.glob(f"{sys.argv[-1]}-*.dist-info"):  # without one pip knows of nothing
            shutil.rmtree(note)
            shutil.rmtree(PACKAGES / sys.argv[-1])


main()
