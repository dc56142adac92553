"""Publishing: one bilingual source per lesson becomes two executed notebooks, and tests hold them to it.

`python -m blocklab.publish` lists the commands. Nothing else in the package imports this one, and it imports no
kernels.
"""
