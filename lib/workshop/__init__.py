"""For those who write the lessons: notebooks built from their sources, stills, handouts, the font, benches, mutants.

`python -m workshop` lists the commands. It is no part of the wheel; nothing in `blocklab` imports it.
"""

import blocklab  # noqa: F401  it takes the current folder off Python's path where a command of ours is looked for
