"""The authors' tools: notebooks built from their sources, figures, handouts, the site, the font, benchmarks.

`python -m authoring` lists the commands. Not part of the wheel; nothing in `blocklab` or `blocklab_course` imports it.
"""
