# %% [markdown] lang="en"
r"""
# 11 Why rotate queries and keys?
"""

# %% [markdown] lang="zh"
r"""
# 11 为什么要旋转查询和键？
"""
