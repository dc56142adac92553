# %% [markdown] lang="en"
r"""
# 13 What does one more token cost?
"""

# %% [markdown] lang="zh"
r"""
# 13 多生成一个词元，要花多少？
"""
