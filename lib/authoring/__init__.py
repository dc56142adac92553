"""Tools for the authors of the course. They are not in the wheel, and nothing in the other packages imports them.

`python -m authoring` lists the commands: they build the notebooks from `notebooks/source`, check them, and write the
site, handouts and single files. `lint/` holds the checks, `site/` the static pages, `benchmarks/` the speed tests;
`figures` and `font` renew files under `pic/` and `data/`.
"""
