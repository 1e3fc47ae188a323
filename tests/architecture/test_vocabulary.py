"""The page has words for every family, and a letter for every role, as the servers know them."""

from __future__ import annotations

import re
from pathlib import Path

from nodes.families import FAMILIES
from nodes.roles import LETTERS

WORDS = Path(__file__).resolve().parents[2] / "frontend" / "src" / "families"


def test_every_role_has_the_letter_of_the_servers_table() -> None:
    table = (WORDS / "roles.ts").read_text().split("export const ROLES", 1)[1].split("\n};", 1)[0]
    shown = dict(re.findall(r'^  (\w+): \{\n    letter: "(.)"', table, re.MULTILINE))
    assert shown == {role or "down": letter for role, letter in LETTERS.items()}


def test_every_family_has_words() -> None:
    table = (WORDS / "vocabulary.ts").read_text().split("const FAMILIES", 1)[1].split("\n};", 1)[0]
    assert set(re.findall(r'^  "?([\w-]+)"?: ', table, re.MULTILINE)) == set(FAMILIES)
