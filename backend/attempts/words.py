"""Hints of labs, which name commands, in the words of the page."""

from __future__ import annotations

import re

WORDS = (
    (re.compile(r"(?:\./cloverlab )?lab do \S+ "), "In the picture or the command palette: "),
    (re.compile(r"--at ([^\s,;:]+)"), r"at \1 of the run"),
    (re.compile(r"--after ([^\s,;:]+)"), r"\1 after that"),
    (re.compile(r"--for ([^\s,;:]+)"), r"and end it after \1"),
    (re.compile(r"--option (\w+)=(\S+?)(?=[,;]|\s|$)"), r"with \1 = \2"),
    (re.compile(r"--when '([^']+)'"), r"when \1"),
    (re.compile(r"'([^']+)'"), r"“\1”"),
)
UNENDED = re.compile(r"A pause without --for never ends\.")


def on_page(hint: str) -> str:
    """The hint without a command line."""
    hint = UNENDED.sub("A pause never ends by itself: resume the server.", hint)
    for pattern, words in WORDS:
        hint = pattern.sub(words, hint)
    return hint
