"""The names of students: which are taken, and when two are the same."""

from __future__ import annotations

import unicodedata

from backend.errors import Malformed

NAME_MAX = 60
SIGNS = frozenset(" -'\u2019._")
"""What a name may contain beside letters, their marks and digits."""
RULE = f"1 to {NAME_MAX} letters and digits, beginning with one, with blanks, -, ', _ and . between"


def read_name(text: str) -> str:
    """The name as it is shown: without needless blanks, in Unicode's composed form. Raises Malformed."""
    name = " ".join(unicodedata.normalize("NFC", text[: 4 * NAME_MAX]).split())
    if not name or len(text) > 4 * NAME_MAX or len(name) > NAME_MAX or not all(map(is_usual, name)):
        raise Malformed(f"a name has {RULE}")
    if unicodedata.category(name[0])[0] not in "LN":
        raise Malformed(f"a name has {RULE}")
    return name


def is_usual(letter: str) -> bool:
    """Neither invisible nor a sign that a table or a page could misread."""
    return letter in SIGNS or unicodedata.category(letter)[0] in "LMN"


def identity_of(name: str) -> str:
    """Equal for names that people take for the same: capitals and Unicode's compatible forms make no difference."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())
