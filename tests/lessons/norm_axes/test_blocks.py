import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.path import Path

from blocklab_course.lessons.norm_axes.blocks import BLOCK, FRONT, SIDE, TOP, Blocks, project


@pytest.mark.parametrize("shape", [(2, 4, 3, 3), (3, 4, 3, 3), (1, 1, 2, 4), (2, 1, 5, 5)], ids=str)
def test_no_block_hides_another_ones_top(figure, shape):
    blocks = Blocks(figure.add_subplot(), shape)
    faces = blocks.place(blocks.corner[:, None, None] + np.stack([FRONT, SIDE, TOP]) * BLOCK)
    lifted = blocks.place(blocks.raised(np.ones(len(faces)))[:, None] + TOP * BLOCK)
    for drawn, block in enumerate(blocks.order):
        tops = np.concatenate([faces[block, -1], lifted[block]])
        top = tops.mean(0) + 0.9 * (tops - tops.mean(0))
        later = faces[blocks.order[drawn + 1 :]].reshape(-1, 5, 2)
        assert not any(Path(face).contains_points(top).any() for face in later)


def test_blocks_are_numbered_as_the_elements_of_the_tensor(figure):
    blocks = Blocks(figure.add_subplot(), (2, 4, 3, 3))
    right = [blocks.top(i)[0] for i in range(72)]
    height = [blocks.top(i)[1] for i in range(72)]
    assert right[0] < right[1] < right[2]  # along a row
    assert height[0] > height[3] > height[6]  # row 0 at the back
    assert height[0] > height[9] > height[18]  # plate 0 on top
    assert right[36] > right[2]  # the second sample beside the first
    assert height[36] == pytest.approx(height[0])


def test_a_far_block_is_drawn_smaller():
    near, far = (project(np.array([[0.0, y, 0.0], [1.0, y, 0.0]])) for y in (0.0, 9.0))
    assert np.linalg.norm(np.diff(far, axis=0)) < np.linalg.norm(np.diff(near, axis=0))


def test_a_raised_block_stands_higher(figure):
    blocks = Blocks(figure.add_subplot(), (2, 4, 3, 3))
    assert blocks.top(13, raised=True)[1] > blocks.top(13)[1]


@pytest.mark.parametrize("labelled", [False, True])
def test_every_painted_path_belongs_to_its_block(figure, labelled):
    blocks = Blocks(figure.add_subplot(), (2, 2, 3, 3))
    greys = np.arange(36) / 51
    blocks.paint([to_hex(str(grey)) for grey in greys], None, ["8"] * 36 if labelled else None)
    paths, colours = blocks.artist.get_paths(), blocks.artist.get_facecolors()
    assert len(blocks.owners) == len(paths) == 36 * (4 if labelled else 3)
    assert sorted(set(blocks.owners)) == list(range(36))
    for i in range(2, len(paths), len(paths) // 36):  # the tops, which are as light as the block's colour
        assert colours[i, 0] == pytest.approx(greys[blocks.owners[i]])
        assert blocks.owners[i - 2] == blocks.owners[i]
        assert paths[i].contains_point(blocks.top(blocks.owners[i]))
