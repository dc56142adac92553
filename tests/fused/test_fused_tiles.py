"""How rows are divided into tiles and programs."""

from types import SimpleNamespace

import pytest
import torch

from blocklab.fused.tiles import alignment, as_rows, resident, tile


def test_contiguous_rows_are_not_copied():
    x = torch.empty(4, 24)
    for view in (x, x[:, 8:16], x[::2], x[:1].expand(4, 24)):
        assert as_rows(view) is view
    for view in (x.t(), x[:, ::2], x[:, :1].expand(4, 24)):
        assert as_rows(view).stride() == (view.shape[1], 1)


@pytest.mark.parametrize(
    ("width", "apart", "divides"),
    [(11008, 11008, 16), (11000, 11000, 8), (10922, 10922, 2), (10923, 10923, 1), (1000, 1001, 1), (8, 0, 8)],
)
def test_alignment_divides_width_and_stride(width, apart, divides):
    x = torch.empty(max(3 * apart, width)).as_strided((3, width), (apart, 1))
    assert alignment(x) == alignment(torch.empty(3, width), x) == divides


@pytest.mark.parametrize(
    ("width", "most", "rows", "block", "warps"),
    [
        (1, 8192, 2048, 1, 4),
        (3, 8192, 512, 4, 4),
        (1000, 8192, 2, 1024, 4),
        (2048, 8192, 1, 2048, 4),
        (2049, 8192, 1, 4096, 8),
        (9000, 4096, 1, 4096, 8),
        (32768, 32768, 1, 32768, 32),
        (65536, 16384, 1, 16384, 32),
    ],
)
def test_tile_sizes_by_hand(width, most, rows, block, warps):
    assert tile(width, most) == {"ROWS": rows, "BLOCK": block, "num_warps": warps}


@pytest.mark.parametrize(("warps", "programs"), [(4, 528), (8, 264), (16, 132), (32, 132)])
def test_every_multiprocessor_gets_16_warps(warps, programs, monkeypatch):
    h100 = SimpleNamespace(multi_processor_count=132)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: h100)
    assert resident(SimpleNamespace(device=torch.device("cuda:0")), {"num_warps": warps}) == programs
