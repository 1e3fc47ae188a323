"""The known name that is nearest to an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """` (did you mean mds1?)`; empty when nothing is near."""
    found = difflib.get_close_matches(name[:80], list(known), n=1)
    return f" (did you mean {found[0]}?)" if found else ""
