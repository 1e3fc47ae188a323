"""Digest of the code: a seed repeats its outcome only with the same code, and processes of one cluster run the same."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("nodes", "backend")


@cache
def code_digest(root: Path = ROOT) -> str:
    """Digest of every Python file that a process of a cluster or a trial may run, as they were at the first call."""
    digest = hashlib.sha256()
    for path in sorted(path for part in PARTS for path in (root / part).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
