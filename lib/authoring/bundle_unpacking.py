"""The code in the first cell of a bundle. Old Pythons must be able to parse it, to say that they are too old."""

import atexit
import base64
import io
import lzma
import shutil
import sys
import tarfile
import tempfile


class CannotStart(Exception):
    """Notebooks show the message without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


def unpack(python, messages, name, payload):
    """Unpack the payload, a tar.xz in base64, to a temporary folder and put the folder first on sys.path.

    The folder is deleted when the kernel ends. Running the cell again does nothing.
    """
    if sys.version_info < python:
        raise CannotStart(messages["python"].format(here=sys.version.split()[0]))
    if "blocklab" in sys.modules:
        there = getattr(sys.modules["blocklab"], "__file__", None) or "?"
        if name in there:
            return
        raise CannotStart(messages["loaded"].format(there=there))
    try:
        folder = tempfile.mkdtemp(prefix=name)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        data = lzma.decompress(base64.b64decode(payload))  # checks the whole payload, as tarfile alone does not
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)
    except Exception as error:
        raise CannotStart(messages["failed"].format(why=error)) from None
    sys.path.insert(0, folder)
