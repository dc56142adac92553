"""Gone: a copy that imports it is of an earlier edition."""

from blocklab.lesson import OldCopy

raise OldCopy
