"""One package per lesson, with its figures and exercises; `catalog` has their order."""
