"""What the first cell of a lesson in one file runs. Old Pythons read this, too: they have to be told."""

import atexit
import base64
import errno
import hashlib
import io
import os
import shutil
import sys
import tarfile
import tempfile


class CannotBegin(Exception):
    """Its text is all that a notebook shows of it."""

    def _render_traceback_(self):
        return [str(self)]


def bring(python, said, sha256, payload):
    """Unpack the payload, a tar.xz in base64, and put it first among the places where Python looks for packages.

    It lies in a temporary folder, or beside the lesson where that cannot be written, until the kernel ends.
    """
    if sys.version_info < python:
        raise CannotBegin(said["old"].format(here=sys.version.split()[0]))
    prefix = f"blocklab-{sha256[:12]}-"
    if "blocklab" in sys.modules:
        there = getattr(sys.modules["blocklab"], "__file__", None) or "?"
        if os.path.basename(os.path.dirname(os.path.dirname(there))).startswith(prefix):  # the cell is run again
            return
        raise CannotBegin(said["another"].format(there=there))
    try:
        packed = base64.b64decode(payload)
    except ValueError:
        packed = b""
    if hashlib.sha256(packed).hexdigest() != sha256:
        raise CannotBegin(said["damaged"])
    failed = set()
    for place in (None, os.curdir):  # None: the system's folder for what is temporary
        try:
            sys.path.insert(0, unpacked(packed, place, prefix))
            return
        except OSError as error:
            failed.add(error.errno)
        except tarfile.CompressionError:  # a Python that was built where liblzma was not
            raise CannotBegin(said["no_xz"]) from None
    raise CannotBegin(said["full" if failed & {errno.ENOSPC, errno.EDQUOT} else "read_only"])


def unpacked(packed, place, prefix):
    """A new folder with what is packed, whole or not at all, which is gone when Python ends."""
    folder = os.path.abspath(tempfile.mkdtemp(prefix=prefix, dir=place))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:xz") as tar:
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder
