"""The join code of a class, which admits to it and signs verdicts: eight letters that nobody confuses, written `ABCD-2345`."""

from __future__ import annotations

import hashlib
import hmac
import secrets

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without 0, 1, I, L and O. Eight of them are 39 bits."""
HALF = 4
GIVEN_MAX = 40
"""Longest text that is looked at as a code."""


def new_code() -> str:
    first, second = ("".join(secrets.choice(LETTERS) for _ in range(HALF)) for _ in range(2))
    return f"{first}-{second}"


def canonical(code: str) -> str:
    """The code as everybody writes it: without blanks and dashes, in capitals."""
    return "".join(code[:GIVEN_MAX].split()).replace("-", "").upper()


def fits(given: str, code: str) -> bool:
    """Whether a person's code is this one, in a time that does not depend on where they differ."""
    found, wanted = (hashlib.sha256(canonical(each).encode()).digest() for each in (given, code))
    return hmac.compare_digest(found, wanted)
