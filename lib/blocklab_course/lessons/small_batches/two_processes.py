"""Two processes, each with its own part of a batch, find the mean and the variance of the whole, as SyncBatchNorm does.

    torchrun --standalone --nproc-per-node 2 -m blocklab_course.lessons.small_batches.two_processes en

`run` does the same from a notebook. The processes talk through gloo, torch's backend for CPUs, on this machine alone.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
import torch.distributed as dist
from torch import Tensor

from blocklab.batch_statistics import batch_statistics, merge_statistics
from blocklab.normalization import batch_norm
from blocklab_course.i18n import Text, get_language, set_language

SIZES = (3, 5)  # samples of process 0 and of process 1
EPS = 1e-5
PATIENCE = 120  # seconds until `run` gives up

LAUNCHER = "torch.distributed.run --standalone --local-addr 127.0.0.1 --nproc-per-node 2"
MODULE = "blocklab_course.lessons.small_batches.two_processes"
SETTINGS = {
    "OMP_NUM_THREADS": "1",  # torchrun would set it, and say so
    "USE_LIBUV": "0",  # torch for Windows is built without it, and torchrun asks for it
    "PYTHONUTF8": "1",
}

SAW = Text(
    en="process {rank}: {count} samples, means {mean[0]:.3f} and {mean[1]:.3f}",
    zh="进程 {rank}：{count} 个样本，均值是 {mean[0]:.3f} 和 {mean[1]:.3f}",
)
MERGED = Text(
    en="merged: {count} samples, means {mean[0]:.3f} and {mean[1]:.3f}",
    zh="合并后：{count} 个样本，均值是 {mean[0]:.3f} 和 {mean[1]:.3f}",
)
FAR = Text(
    en="largest difference from the outputs of one process: merged {merged:.3f}, each for itself {apart:.3f}",
    zh="与单个进程的输出相比，最大的差：合并后 {merged:.3f}，各算各的 {apart:.3f}",
)


def run() -> str:
    """Start the two processes and return what they say, in the chosen language.

    Raises RuntimeError with their messages if they fail.
    """
    with TemporaryDirectory() as folder:  # older versions of gloo print, too, each process in the other's lines
        said = Path(folder, "said.txt")
        done = subprocess.run(
            [sys.executable, "-m", *LAUNCHER.split(), "-m", MODULE, get_language(), said],
            env=os.environ | SETTINGS | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},  # as found here
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
        )
        if done.returncode:
            raise RuntimeError(f"the two processes failed:\n{done.stderr}")
        return said.read_text("utf-8")


def whole_batch() -> Tensor:
    """Eight samples of two features; the first three have other means than the last five."""
    return torch.tensor([[1.0, 8], [2, 9], [3, 7], [7, 2], [8, 3], [9, 1], [6, 4], [9, 0]])  # (N, C)


def share(rank: int, own: Tensor) -> str | None:
    """Normalize one's own part with the statistics of both; process 0 returns what has come out."""
    parts = [None, None]
    dist.all_gather_object(parts, batch_statistics(own, 0))
    count, mean, m2 = merge_statistics(*parts[0], *parts[1])
    y = (own - mean) / (m2 / count + EPS).sqrt()
    outputs = [None, None]
    dist.all_gather_object(outputs, (y, batch_norm(own, None, None, training=True)))
    return report(parts, (count, mean), outputs) if rank == 0 else None


def report(parts: list, merged: tuple[int, Tensor], outputs: list) -> str:
    """What each process saw, what both saw together, and how the outputs compare with those of one process."""
    together, apart = (torch.cat(y) for y in zip(*outputs, strict=True))
    alone = batch_norm(whole_batch(), None, None, training=True)
    lines = [SAW.format(rank=rank, count=count, mean=mean) for rank, (count, mean, _m2) in enumerate(parts)]
    far = {name: (y - alone).abs().max() for name, y in (("merged", together), ("apart", apart))}
    return "\n".join([*lines, MERGED.format(count=merged[0], mean=merged[1]), FAR.format(**far)])


def main(language: str, file: str = "") -> None:
    set_language(language)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    said = share(rank, whole_batch().split(SIZES)[rank])
    if said and file:
        Path(file).write_text(said, encoding="utf-8")
    elif said:
        print(said)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
