"""Names that an operation would create. They have no control characters, which a terminal or a log would obey.

A request is checked where it is admitted, never where a record is applied: a journal of an earlier version may hold such names, and every
replica must apply it as before.
"""

from __future__ import annotations

import re

from nodes.errors import FsError
from nodes.metadata.operations import Create, Link, Mkdir, Operation, Rename
from nodes.metadata.paths import shown

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def check_new_names(operation: Operation) -> None:
    """Raises FsError EINVAL. The operation alone decides, so that every server gives the same answer."""
    if isinstance(operation, Mkdir) and operation.parents:
        created = operation.path
    elif isinstance(operation, Create | Mkdir):
        created = operation.path.rpartition("/")[2]
    elif isinstance(operation, Rename | Link):
        created = operation.new.rpartition("/")[2]
    else:
        return
    if CONTROL.search(created):
        raise FsError("EINVAL", f"{shown(created)} has a control character: a new name must not")
