"""Names of files for display. On a terminal a name with control characters is quoted, so that the terminal does not obey it."""

from __future__ import annotations

import sys


def shown(name: str) -> str:
    """The name as it is in a pipeline; on a terminal, quoted and escaped if it is not printable."""
    if name.isprintable() or not sys.stdout.isatty():
        return name
    return "'" + name.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"
