"""Fault targets (`active of g1`, `standby 2 of g1`, …), resolved against the global view."""

from __future__ import annotations

import random
import re

from backend.errors import Impossible, Malformed, NotThere
from backend.picture import Picture, ServerState
from backend.suggestion import nearest
from nodes.roles import ALIKE

WORDS = re.compile(
    r"^(?P<a>a )?(?P<role>active|standbys|standby|junior|primary|secondary|member|joining|last down)"
    r"(?: (?P<nth>[1-9][0-9]?))? of (?P<group>[a-z][a-z0-9-]{0,31})$"
)


def resolve(word: str, picture: Picture, rng: random.Random) -> list[str]:
    """Names of servers, nodes, clients, groups or `coordination`. Raises NotThere for an unknown name, Impossible when no
    server has the role now."""
    if word == "clients":
        return sorted(picture.clients) or nobody(word)
    named = [
        *sorted(picture.servers), *sorted(picture.nodes), *sorted(picture.clients),
        "coordination", *picture.ensemble, *sorted(picture.groups)
    ]  # fmt: skip
    if word in named:
        return [word]
    found = WORDS.match(word)
    if found is None:
        raise NotThere(
            f"no target is called {word[:60]!r}{nearest(word, named)}; there are {', '.join(named)}, and roles like 'active of g1'"
        )
    return by_role(found, word, picture, rng)


def by_role(found: re.Match[str], word: str, picture: Picture, rng: random.Random) -> list[str]:
    group = found["group"]
    if group not in picture.groups:
        raise NotThere(f"no group is called {group!r}; there are {', '.join(sorted(picture.groups))}")
    servers = [server for server in picture.servers.values() if server.group == group]
    if found["role"] == "last down":
        return last_down(servers) or nobody(word)
    names = in_role(servers, found["role"].removesuffix("s"))
    if found["role"] == "standbys":
        return names or nobody(word)
    if found["a"]:
        return [rng.choice(names)] if names else nobody(word)
    nth = int(found["nth"] or 1)
    return names[nth - 1 : nth] or nobody(word)


def in_role(servers: list[ServerState], role: str) -> list[str]:
    """Servers with a role, ordered by name. In a group of members the first one stands for the active, the others for standbys."""
    members = sorted((server.name for server in servers if server.role == "member"), key=natural)
    if members and role in ("active", "standby"):
        return members[:1] if role == "active" else members[1:]
    alike = ALIKE.get(role, (role,))
    return sorted((server.name for server in servers if server.role in alike), key=natural)


def last_down(servers: list[ServerState]) -> list[str]:
    down = [server for server in servers if server.process == "stopped"]
    return [max(down, key=lambda server: server.stopped_ns).name] if down else []


def nobody(word: str) -> list[str]:
    raise Impossible(f"there is no {word} now")


def natural(name: str) -> tuple[str, int]:
    """Sort key that places mds2 before mds10."""
    digits = re.search(r"\d+$", name)
    return (name[: digits.start()], int(digits[0])) if digits else (name, 0)


def group_of(target: str, picture: Picture) -> str:
    """The group of that name. Raises Malformed for another name."""
    if target not in picture.groups:
        raise Malformed(f"{target!r} is not a group; there are {', '.join(sorted(picture.groups))}")
    return target
