"""What a student reaches, and the instructor of a student's cluster, as tables. All else is refused, also what a later version adds."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Scope

from backend.dependencies import CLUSTER

Whose = Literal["nobody's", "cluster", "attempt"]
"""Whose thing a route is about: of no student in particular, of the student's own cluster, or of their own attempt."""
SOCKET = "SOCKET"
"""Stands for the method of a WebSocket."""


class Permission(msgspec.Struct, frozen=True):
    """A form of request. `{}` in the path is one part of it, `{*}` the rest."""

    method: str
    path: str
    whose: Whose = "nobody's"

    @property
    def pattern(self) -> re.Pattern[str]:
        parts = re.split(r"(\{\*?\})", self.path)
        words = {"{}": r"([^/]+)", "{*}": r"(?!api(?:/|\Z)).*"}
        return re.compile("".join(words.get(part) or re.escape(part) for part in parts), re.DOTALL)


def of_cluster(method: str, *paths: str) -> tuple[Permission, ...]:
    return tuple(Permission(method, f"/api/{path}", "cluster") for path in paths)


STUDENTS: tuple[Permission, ...] = (
    Permission("GET", "/{*}"),
    Permission("GET", "/api/labs"),
    Permission("GET", "/api/labs/{}"),
    Permission("GET", "/api/attempts"),
    Permission("POST", "/api/attempts"),
    Permission("GET", "/api/attempts/{}", "attempt"),
    Permission("DELETE", "/api/attempts/{}", "attempt"),
    Permission("POST", "/api/attempts/{}/answers", "attempt"),
    Permission("POST", "/api/attempts/{}/hints", "attempt"),
    Permission("POST", "/api/attempts/{}/verdict", "attempt"),
    Permission("GET", "/api/papers"),
    Permission("GET", "/api/papers/{}/{}"),
    Permission("GET", "/api/experiments/{}"),
    Permission("GET", "/api/experiments/{}/plot"),
    Permission("GET", "/api/class/me"),
    Permission("POST", "/api/class/me/cluster"),
    Permission("POST", "/api/class/me/verdicts"),
    *of_cluster(SOCKET, "stream"),
    *of_cluster(
        "GET",
        "cluster",
        "status",
        "verbs",
        "clock",
        "conditions",
        "tree",
        "coordination",
        "coordination/changes",
    ),
    *of_cluster("GET", "runs", "runs/{}/events", "runs/{}/picture", "runs/{}/timeline", "runs/{}/failovers"),
    *of_cluster("GET", "runs/{}/journal", "runs/{}/pool", "journal/{}/{}", "takeovers/{}/{}", "pool/look"),
    *of_cluster("GET", "checkpoints", "checkpoints/story", "checkpoints/behind", "checkpoints/{}/behind"),
    *of_cluster("GET", "fs/list", "fs/blocks"),
    *of_cluster("POST", "faults", "clock", "workload", "fs", "groups/{}/handover"),
    *of_cluster("POST", "checkpoints", "checkpoints/recover"),
)
"""They have none of content of files, exports, searches, comparisons, scenarios, clusters of papers, and runs of labs on the control plane's own
processors."""

LOOKING: tuple[Permission, ...] = (
    *of_cluster(SOCKET, "{*}"),
    *of_cluster("GET", "{*}"),
    *of_cluster("POST", "scenarios/check", "scenario-runs"),
    *of_cluster("DELETE", "scenario-runs/{}"),
)
"""What the instructor reaches of a student's cluster: questions, and the scenarios, which run on clusters of their own."""

ENTRANCE: tuple[Permission, ...] = (
    Permission("GET", "/join"),
    Permission("POST", "/join"),
    Permission("POST", "/api/class/join"),
)
"""What anybody reaches while a class takes students."""

NAMED = re.compile(r"/api/(?:attempts|clusters)/([^/]+).*", re.DOTALL)
"""Addresses of a whole cluster, or of an attempt, which has the name of its cluster."""


class Permitted(msgspec.Struct, frozen=True):
    """A request that its form does not rule out, and what remains to be judged."""

    whose: Whose
    attempt: str = ""
    """Name of the attempt that the request is about."""


def permitted(scope: Scope, table: tuple[Permission, ...]) -> Permitted | None:
    """How the table admits a request; None when it does not.

    A request without the prefix of a cluster is about the main one: the rows of clusters do not admit it.
    """
    method = SOCKET if scope["type"] == "websocket" else scope["method"]
    has_cluster = scope.get(CLUSTER) is not None
    for row in table:
        if row.method == method and has_cluster == (row.whose == "cluster"):
            found = row.pattern.fullmatch(scope["path"])
            if found is not None:
                return Permitted(row.whose, found[1] if row.whose == "attempt" else "")
    return None


def names_another(scope: Scope, student: str) -> bool:
    """Whether a request asks for the numbers of somebody else."""
    query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    return any(name == "student" and value != student for name, value in query)


def only_looks(scope: Scope) -> bool:
    """Whether a request changes nothing of the cluster or attempt that it is about."""
    if scope.get(CLUSTER) is not None:
        return permitted(scope, LOOKING) is not None
    return scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD")


def cluster_named(path: str) -> str:
    """The cluster whose end, or whose attempt, an address is about; empty for another address."""
    found = NAMED.fullmatch(path)
    return found[1] if found is not None else ""
