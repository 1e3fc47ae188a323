"""Who a request is from, when it is not from the instructor: a student of a class, found by their key."""

from __future__ import annotations

import msgspec
from starlette.requests import HTTPConnection

PERSON = "cloverlab.person"
"""Key of a scope: the student; without it, the request is from who has the key of the data directory."""


class Person(msgspec.Struct, frozen=True):
    id: str
    name: str
    passed: frozenset[str] = frozenset()
    """The labs that the student has passed in the class."""


def person_of(connection: HTTPConnection) -> Person | None:
    """None for the instructor, and for anybody on a control plane without a class."""
    person: Person | None = connection.scope.get(PERSON)
    return person
