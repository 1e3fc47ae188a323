"""Roles: the places of a server in the global view, for all families, and the letter by which each is shown."""

from __future__ import annotations

from typing import Literal

Role = Literal["active", "standby", "junior", "primary", "secondary", "member", "joining", "down"]
"""Role of a server on the page; `down` has no place in the view."""
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
"""For each role of one family, the equivalent roles of all families."""
