"""Two small lessons and the repository around them, for the tests of the authoring tools."""

from pathlib import Path

from authoring.project import Project

MEANS = '''\
# %% [markdown] lang="en"
r"""
# 01 Two means

Here $\\\\mu$ is the mean of `x`: 3 numbers, 100% of them. See [the next lesson](../en/02_pictures.ipynb).
"""

# %% [markdown] lang="zh"
r"""
# 01 两个均值

这里 $\\\\mu$ 是 `x` 的均值：3 个数，占 100%。见[下一课](../zh/02_pictures.ipynb)。
"""

# %%
x = [1, 2, 6]
print(sum(x) / len(x))

# %% [markdown] lang="en"
r"""
## What a token is

- one **token**
- a shape `(N, C)`
"""

# %% [markdown] lang="zh"
r"""
## 词元是什么

- 一个**词元**
- 形状 `(N, C)`
"""

# %% tags=["solution"]
answer = 42

# %%
answer
'''.replace("\\\\", "\\")

PICTURES = '''\
# %% [markdown] lang="en"
r"""
# 02 Pictures
"""

# %% [markdown] lang="zh"
r"""
# 02 图片
"""

# %%
import matplotlib.pyplot as plt

plt.plot([0, 1], [0, 1])
plt.show()

# %%
import ipywidgets

ipywidgets.IntSlider(value=3)

# %%
import time

for step in range(4):
    print(f"\\r{step} of 3", end="", flush=True)
    time.sleep(0.02)
print()

# %% tags=["raises-exception"]
1 / 0
'''

GLOSSARY = """\
[[term]]
en = "mean"
zh = "均值"
lesson = 1
meaning_en = "The sum divided by the count."
meaning_zh = "总和除以个数。"
"""

PYPROJECT = """\
[project]
name = "demo"

[project.urls]
Repository = "https://github.com/carol/demo"
"""

README = """\
# Demo

    git clone https://github.com/carol/demo

<!-- links:begin -->
<!-- links:end -->

9<!-- figures --> figures, 9<!-- exercises --> exercises. <!-- badges -->

<!-- lessons:begin -->
<!-- lessons:end -->

The end.
"""


def make_project(root: Path) -> Project:
    """A repository with both lessons, nothing built yet."""
    (root / "notebooks" / "source").mkdir(parents=True)
    project = Project(root)
    project.pyproject.write_text(PYPROJECT, encoding="utf-8")
    for language in ("en", "zh"):
        project.readme(language).write_text(README, encoding="utf-8")
    project.source("01_means").write_text(MEANS, encoding="utf-8")
    project.source("02_pictures").write_text(PICTURES, encoding="utf-8")
    return project


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that the file has exactly once."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
    path.write_text(text.replace(old, new), encoding="utf-8")
