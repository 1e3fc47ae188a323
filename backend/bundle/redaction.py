"""Secrets of a cluster that its logs, events or state may repeat, and their removal from a text."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_from_bytes

import msgspec

from backend import key
from backend.errors import Malformed, reason_of
from nodes.wire.keys import WeakToken, keys_of

SHORTEST = 16
"""Length in bytes from which a text counts as a secret. All real ones have 32 or more; a shorter one would match ordinary words."""
MARK = b"[removed]"
SECRET_DIRECTORY = "keys"
SECRET_SUFFIX = ".keys"


class Redaction:
    """Removes known secrets in every form that a program is likely to print."""

    def __init__(self, secrets: set[bytes]):
        written = {form for secret in secrets for form in forms(secret) if len(form) >= SHORTEST}
        longest_first = sorted(written, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)) or rb"(?!)", re.IGNORECASE)

    def clean(self, data: bytes) -> bytes:
        return self._pattern.sub(MARK, data)


def forms(secret: bytes) -> set[bytes]:
    """A secret as it is, in hexadecimal, base64 and URLs, and escaped by JSON and Python."""
    escaped = json.dumps(secret.decode("latin-1"))[1:-1].encode()
    linked = (quote_from_bytes(secret, safe=safe).encode() for safe in ("", "/"))
    return {
        *linked, secret, escaped, repr(secret)[2:-1].encode(), secret.hex().encode(), base64.b64encode(secret),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
    }  # fmt: skip


def secrets_of(directory: Path | None) -> set[bytes]:
    """Every secret of a data directory, and the key in the environment. Raises Malformed when one of them cannot be read."""
    found = {os.environ.get(key.VARIABLE, "").encode()}
    try:
        for path in secret_files(directory) if directory else ():
            content = path.read_bytes().strip()
            found |= {content, *parts_of(content)}
    except OSError as error:
        raise Malformed(
            f"cannot read {error.filename}, so its secret could not be removed from logs: {reason_of(error)}"
        ) from None
    for secret in tuple(found):
        try:
            found |= set(parts_of(msgspec.json.encode(keys_of(secret, serves=True))))
        except WeakToken:
            """No token: nothing is derived from it."""
    return {secret for secret in found if len(secret) >= SHORTEST}


def secret_files(directory: Path) -> Iterator[Path]:
    named = (directory / "token", directory / key.FILE)
    kept = (directory / SECRET_DIRECTORY).rglob("*")
    for path in (*named, *kept, *directory.rglob(f"*{SECRET_SUFFIX}")):
        if path.is_file():
            yield path


def parts_of(content: bytes) -> Iterator[bytes]:
    """The values of a file of keys, as text and decoded."""
    try:
        values = msgspec.json.decode(content, type=dict[str, str]).values()
    except msgspec.MsgspecError:
        return
    for value in values:
        yield value.encode()
        try:
            yield base64.b64decode(value, validate=True)
        except binascii.Error:
            """Not base64: the text alone."""
