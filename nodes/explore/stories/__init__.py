"""Stories: whole trials in which cluster, load and faults are drawn to fit each other.

Faults that are drawn one by one seldom meet what a mechanism is weak in, and the load seldom looks when they do. A story is a pattern that has
broken replicated systems before, with everything in it drawn: who is concerned, how far somebody falls behind, who comes back first.
"""

from __future__ import annotations

from collections.abc import Callable

from nodes.explore.stories.changes import joining, takeovers
from nodes.explore.stories.groups import barriers, between_groups, moving
from nodes.explore.stories.images import going_back, images, rots_while_away
from nodes.explore.stories.ledgers import closing
from nodes.explore.stories.reads import last_moments, shores, views
from nodes.explore.stories.returns import returns, returns_with_less
from nodes.explore.stories.scene import Scene
from nodes.explore.stories.writers import content
from nodes.families import Family

Story = Callable[[Scene], None]


def stories_of(family: Family) -> list[Story]:
    """Those that can be played in this family; more than once: more often."""
    told: list[Story] = [returns, returns_with_less, content]
    if family.standbys:
        told += [shores, last_moments, takeovers, joining]
    if not family.locked:
        told += [views, views]
    if family.groups_max > 1:
        told += [between_groups, moving, barriers]
    if family.images:
        told += [images, going_back, rots_while_away]
    if family.journal_nodes >= 3:
        told += [closing, closing]
    return told
