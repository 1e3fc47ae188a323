"""The verdict on a submission as JSON, signed with the join code of a class, to hand in."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import msgspec

from backend.errors import Malformed
from backend.grading.join_code import canonical
from backend.grading.supervisor import Graded
from backend.version import version

BYTES_MAX = 1 << 16


class GradeVerdict(msgspec.Struct, frozen=True):
    lab: str
    student: str
    seeds: str
    """`A..B`."""
    passed: bool
    seed: int
    """The failing seed; 0 when none failed."""
    invariant: str
    sha256: str
    """SHA-256 of the submission."""
    version: str
    """Version of Cloverlab that judged."""
    signature: str = ""
    """HMAC-SHA256 of the other fields under the join code; empty without one."""


def verdict_of(lab: str, student: str, seeds: range, source: bytes, graded: Graded) -> GradeVerdict:
    failed = graded.failed
    return GradeVerdict(
        lab, student, f"{seeds.start}..{seeds[-1]}", graded.well, failed.seed if failed else 0, failed.invariant if failed else "",
        hashlib.sha256(source).hexdigest(), version(),
    )  # fmt: skip


def signed(verdict: GradeVerdict, code: str) -> GradeVerdict:
    return msgspec.structs.replace(verdict, signature=signature_of(verdict, code))


def signature_of(verdict: GradeVerdict, code: str) -> str:
    bare = msgspec.structs.replace(verdict, signature="")
    return hmac.new(canonical(code).encode(), msgspec.json.encode(bare), hashlib.sha256).hexdigest()


def is_signed(verdict: GradeVerdict, code: str) -> bool:
    """Whether the verdict was signed with this code, and not changed since."""
    return hmac.compare_digest(verdict.signature.encode(), signature_of(verdict, code).encode())


def read_verdict(path: Path) -> GradeVerdict:
    """Raises Malformed."""
    try:
        with path.open("rb") as file:
            data = file.read(BYTES_MAX)
        return msgspec.json.decode(data, type=GradeVerdict)
    except OSError as error:
        raise Malformed(f"{path}: {error.strerror}") from None
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise Malformed(f"{path} is no verdict: {error}") from None
