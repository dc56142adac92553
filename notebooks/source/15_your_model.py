# %% [markdown] lang="en"
r"""
# 15 A chat model with your blocks
"""

# %% [markdown] lang="zh"
r"""
# 15 用你写的部件组成聊天模型
"""
