"""Who is in the class, by their keys, and what is kept of each. Every change is in the file before it shows."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from backend.classes.limits import TokenLimit, TokenRule
from backend.classes.record import ClassRecord, ClassStudent, with_joined, with_student, without_student
from backend.classes.store import ClassStore
from backend.errors import Forbidden, Impossible, NotThere, TooMany
from backend.grading.join_code import fits, new_code
from backend.person import Person

KEY_BYTES = 32
WRONG_CODES = TokenRule(most=10, every_s=6)
NONE = ClassRecord(0, "", "", 0.0, joining=False, ended_s=1.0)
"""Stands for the class before there is any."""


class ClassRoster:
    """At most one class is open."""

    def __init__(self, data: Path):
        """Raises ClusterCannotStart for a file that cannot be read."""
        self._store = ClassStore(data)
        self._wrong_codes = TokenLimit(WRONG_CODES)
        self.record = self._store.newest() or NONE
        """Of the open class, or of the last one; one without a number before the first."""

    @property
    def opened(self) -> ClassRecord:
        """The open class. Raises NotThere when there is none."""
        if not self.record.is_open:
            raise NotThere("no class is open: ./cloverlab class start")
        return self.record

    @property
    def takes_students(self) -> bool:
        return self.record.is_open and self.record.joining

    def start(self, name: str) -> ClassRecord:
        """Opens a class under a new code. Raises Impossible while one is open."""
        if self.record.is_open:
            raise Impossible(f"the class {self.record.name!r} is open: end it first")
        return self._keep(ClassRecord(self.record.number + 1, name, new_code(), time.time()))

    def set_joining(self, joining: bool) -> ClassRecord:
        """Whether the code admits further students."""
        return self._keep(msgspec.structs.replace(self.opened, joining=joining))

    def end(self) -> ClassRecord:
        """All keys of students end; the results stay."""
        return self._keep(msgspec.structs.replace(self.opened, ended_s=time.time()))

    def join(self, code: str, name: str, caller: str) -> tuple[str, ClassStudent]:
        """Admits a student; returns their key. Raises TooMany, Forbidden for a wrong code, Impossible for a name that is taken, Malformed."""
        record = self.opened
        wait_s = self._wrong_codes.wait_s(caller)
        if wait_s:
            raise TooMany(f"too many wrong codes: wait {wait_s:.0f} s")
        if not fits(code, record.code):
            self._wrong_codes.take(caller)
            raise Forbidden("this is not the code of the class")
        if not record.joining:
            raise Forbidden("the class takes no more students")
        key, id = secrets.token_urlsafe(KEY_BYTES), secrets.token_hex(8)
        record = self._keep(with_joined(record, ClassStudent(id, name, digest_of(key), time.time())))
        return key, record.students[-1]

    def renew_key(self, id: str) -> str:
        """A new key for a student; the old one ends. Raises NotThere."""
        key = secrets.token_urlsafe(KEY_BYTES)
        self.change(id, lambda student: msgspec.structs.replace(student, key_sha256=digest_of(key)))
        return key

    def remove(self, id: str) -> ClassRecord:
        """Removes a student with all results. Raises NotThere."""
        return self._keep(without_student(self.opened, id))

    def person_of(self, key: str) -> Person | None:
        """The student with this key. Digests are compared, in a time that tells nothing about a key."""
        if not self.record.is_open or not key:
            return None
        digest = digest_of(key)
        found = [each for each in self.record.students if hmac.compare_digest(each.key_sha256, digest)]
        return Person(found[0].id, found[0].name, found[0].passed) if found else None

    def student(self, id: str) -> ClassStudent:
        """A student of the open class. Raises NotThere."""
        return self.opened.student(id)

    def change(self, id: str, changed: Callable[[ClassStudent], ClassStudent]) -> ClassStudent:
        """Changes what is kept of a student. Raises NotThere, Unavailable."""
        record = self.opened
        before = record.student(id)
        after = changed(before)
        if after != before:
            self._keep(with_student(record, after))
        return after

    def _keep(self, record: ClassRecord) -> ClassRecord:
        """Raises Unavailable; then all is as before."""
        self._store.save(record)
        self.record = record
        return record


def digest_of(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()
