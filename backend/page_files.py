"""The files of the built page: compressed once, and kept by browsers as long as they are the same."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from functools import lru_cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

FOREVER = "max-age=31536000, immutable"
"""For names that contain a hash of their content."""
ASK_AGAIN = "no-cache"
COMPRESSED = ("text/", "application/javascript", "application/json", "image/svg+xml")
COMPRESSED_MIN = 1000
"""Smallest size in bytes that is worth it."""


class Built:
    """A file in memory, plain and compressed."""

    def __init__(self, data: bytes, kind: str):
        self.data = data
        self.kind = kind
        self.tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        small = len(data) < COMPRESSED_MIN or not kind.startswith(COMPRESSED)
        self.gzipped = b"" if small else gzip.compress(data, 9, mtime=0)


@lru_cache(maxsize=64)
def built(file: Path, changed_ns: int) -> Built:
    """A file as it was at its time of change. Raises OSError."""
    return Built(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "application/octet-stream")


def answer(request: Request, file: Path, forever: bool) -> Response:
    """The file, or 304 when the browser has it. Raises OSError."""
    found = built(file, file.stat().st_mtime_ns)
    headers = {
        "ETag": found.tag,
        "Cache-Control": FOREVER if forever else ASK_AGAIN,
        "Vary": "Accept-Encoding",
    }
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if found.tag in known:
        return Response(status_code=304, headers=headers)
    if found.gzipped and accepts_gzip(request):
        return Response(found.gzipped, headers={**headers, "Content-Encoding": "gzip"}, media_type=found.kind)
    return Response(found.data, headers=headers, media_type=found.kind)


def accepts_gzip(request: Request) -> bool:
    for part in request.headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0")
    return False
