"""The words for a server's place in the global view, of all families, and the letter by which each is shown."""

from __future__ import annotations

LETTERS = {
    "active": "A",
    "standby": "S",
    "junior": "J",
    "primary": "P",
    "secondary": "S",
    "member": "M",
    "joining": "J",
    "": "-",
}
LEADING = ("active", "primary")
FOLLOWING = ("standby", "secondary")
BEHIND = ("junior", "joining")
SERVING = (*LEADING, "member")
IN_STEP = (*SERVING, *FOLLOWING)
ALIKE = {"active": LEADING, "standby": FOLLOWING, "junior": BEHIND}
"""What the words of one family name in the others."""
