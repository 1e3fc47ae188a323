"""What a search is asked for, and what can be asked: families, and the bugs by which the explorer is measured."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from backend.errors import Malformed
from backend.searches.reports import SearchTask
from backend.served_models import texts
from nodes.config import Holes
from nodes.explore.bugs import bugs
from nodes.families import FAMILIES
from nodes.mutations import Mutations

MINUTES_MAX = 60
SEEDS_MAX = 100_000
JOBS = 2


class SearchWish(msgspec.Struct, frozen=True):
    family: str | None = None
    """None: every family that promises to lose nothing, in turn."""
    bug: str | None = None
    """A hole or a mutation that is switched on; None: the safe variant."""
    minutes: float | None = None
    seeds: int | None = None
    """Number of seeds, in place of minutes."""
    first_seed: int = 1
    jobs: int | None = None
    """Processes; None means two, or as many as there are processors."""


def promising() -> tuple[str, ...]:
    return tuple(name for name, family in FAMILIES.items() if family.promises)


def families_of(bug: str) -> tuple[str, ...]:
    """The families in which a bug can be switched on."""
    if bug in Holes.__struct_fields__:
        return tuple(name for name in promising() if bug in FAMILIES[name].holes)
    return promising()


def choices() -> dict[str, Any]:
    says = texts(Holes) | texts(Mutations)
    return {
        "families": [{"name": name, "says": FAMILIES[name].says} for name in promising()],
        "bugs": [
            {
                "name": bug.name,
                "kind": "hole" if bug.name in Holes.__struct_fields__ else "mutation",
                "says": says[bug.name],
                "family": bug.family,
                "families": families_of(bug.name),
            }
            for bug in bugs()
        ],
        "jobs": jobs_by_default(),
        "jobs_max": processors(),
    }


def processors() -> int:
    return os.cpu_count() or 1


def jobs_by_default() -> int:
    return min(JOBS, processors())


def task_of(wish: SearchWish) -> SearchTask:
    """Raises Malformed in one line."""
    if (wish.minutes is None) == (wish.seeds is None):
        raise Malformed("a search takes minutes or seeds: one of them")
    jobs = jobs_by_default() if wish.jobs is None else wish.jobs
    if jobs > processors():
        raise Malformed(f"jobs: this machine has {processors()} processors")
    minutes = MINUTES_MAX if wish.minutes is None else wish.minutes
    protocols = protocols_of(wish)
    holes, mutations = switches_of(wish.bug)
    return SearchTask(protocols, holes, mutations, wish.first_seed, wish.seeds or 0, minutes * 60, jobs)


def protocols_of(wish: SearchWish) -> tuple[str, ...]:
    """The families to search. Raises Malformed for an unknown family or bug, and for a hole that the family does not have."""
    if wish.family is not None and wish.family not in promising():
        raise Malformed(f"family {wish.family!r} is unknown; there are {', '.join(promising())}")
    if wish.bug is not None and wish.bug not in (bug.name for bug in bugs()):
        raise Malformed(f"no bug is called {wish.bug!r}; GET /api/explore/choices lists them")
    able = promising() if wish.bug is None else families_of(wish.bug)
    if wish.family is None:
        return able
    if wish.family not in able:
        raise Malformed(f"{wish.bug} is a hole of {', '.join(able)}, not of {wish.family}")
    return (wish.family,)


def switches_of(bug: str | None) -> tuple[Holes, Mutations]:
    """With this bug switched on; it must be a known one."""
    if bug is None:
        return Holes(), Mutations()
    if bug in Holes.__struct_fields__:
        return Holes(**{bug: True}), Mutations()
    return Holes(), Mutations(**{bug: True})
