"""What the first cell of a lesson in one file runs. Old Pythons read this, too: they have to be told."""

import atexit
import base64
import io
import shutil
import sys
import tarfile
import tempfile


class CannotStart(Exception):
    """Its text is all that a notebook shows of it."""

    def _render_traceback_(self):
        return [str(self)]


def unpack(python, said, name, payload):
    """Unpack the payload, a tar.xz in base64, and put it first among the places where Python looks for packages.

    It lies in a temporary folder until the kernel ends. Where the cell is run again, it is there already.
    """
    if sys.version_info < python:
        raise CannotStart(said["old"].format(here=sys.version.split()[0]))
    if "blocklab" in sys.modules:
        there = getattr(sys.modules["blocklab"], "__file__", None) or "?"
        if name in there:
            return
        raise CannotStart(said["another"].format(there=there))
    try:
        folder = tempfile.mkdtemp(prefix=name)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(base64.b64decode(payload)), mode="r:xz") as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)
    except Exception as error:
        raise CannotStart(said["failed"].format(why=error)) from None
    sys.path.insert(0, folder)
