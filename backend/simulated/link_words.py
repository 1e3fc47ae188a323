"""The faults on the links of a simulated cluster, read from the links themselves."""

from __future__ import annotations

from backend.fabrics.links import LinkFault
from nodes.faults.words import rule_of
from nodes.sim.conditions import CALM
from nodes.sim.links import Links, SimLink

Pair = tuple[str, str]


def rule(link: SimLink) -> str:
    """The faults on one direction, as text; empty for a sound link."""
    if link.piled is not None:
        return "clogged"
    if link.cut:
        return "cut"
    found = []
    if link.delay_ns:
        found.append(rule_of("delay", {"ms": link.delay_ns / 1e6}))
    if link.lose > CALM.lose:
        found.append(rule_of("lose", {"share": link.lose}))
    if link.damage:
        found.append(rule_of("damage", {"share": link.damage}))
    if link.duplicate > CALM.duplicate:
        found.append(f"duplicates {link.duplicate:.0%}")
    if link.reorder > CALM.reorder:
        found.append(f"reorders {link.reorder:.0%}")
    return ", ".join(found)


def faults_of(links: Links) -> list[LinkFault]:
    """One row for a link, or one for each direction where they differ."""
    rules = {pair: text for pair, link in links.made.items() if (text := rule(link))}
    rows = []
    for (a, b), text in rules.items():
        same = rules.get((b, a)) == text
        if not same or a < b:
            rows.append(LinkFault(a, b, "both" if same else "to", rule=text))
    return rows
