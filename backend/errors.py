"""Operating errors of the control plane, each one line. Only this module maps them to HTTP and to exit codes."""

from __future__ import annotations

import errno
import os
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.faults import check


class Exit(IntEnum):
    """Exit codes of every command."""

    WELL = 0
    FAILED = 1
    """A check, an expectation or a condition did not hold."""
    USAGE = 2
    """Wrong input: an an unknown command or option, or an invalid value or file."""
    REFUSED = 3
    """A valid request that the cluster, or a port or directory in use, rules out; also a path or server that does not exist."""
    UNREACHABLE = 4
    """No control plane answers, or its cluster cannot answer now."""


class LabError(Exception):
    """A request that cannot be granted, with the reason in one line."""

    status = 500
    exit_code = Exit.REFUSED

    def __init__(self, message: str):
        super().__init__(message)
        self.message = " ".join(message.split())


class NotThere(LabError):
    """A server, verb, run or file of that name does not exist."""

    status = 404


class Impossible(LabError):
    """A valid request that the present state of the cluster rules out."""

    status = 409


class FaultImpossible(Impossible):
    """A fault that this fabric cannot inject."""


class Malformed(LabError):
    status = 422
    exit_code = Exit.USAGE


class NoKey(LabError):
    """A request without the key of the API, or with a wrong one."""

    status = 401

    def __init__(self) -> None:
        super().__init__(
            "the key of the API is missing or wrong: it is in the file `key` of the data directory; "
            "CLOVERLAB_KEY names it to the command line"
        )


class Forbidden(LabError):
    """A request from another site, or for another host."""

    status = 403


class TooLarge(LabError):
    status = 413
    exit_code = Exit.USAGE


class TooMany(LabError):
    """More tries or requests than one caller may make in this time."""

    status = 429


class Unavailable(LabError):
    """The cluster cannot answer now; a retry may help."""

    status = 503
    exit_code = Exit.UNREACHABLE


class RequestRefused(LabError):
    """The control plane's own error, as the command line receives it."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status
        if status in (400, 413, 422):
            self.exit_code = Exit.USAGE
        elif status >= 502:
            self.exit_code = Exit.UNREACHABLE


class ClusterCannotStart(LabError):
    """`up` cannot start: a port in use, a locked or read-only directory, an unreachable ensemble."""

    status = 503


def of_fault(error: check.FaultUnsupported) -> LabError:
    """The same line as an error of the control plane."""
    from nodes.faults import check

    if isinstance(error, check.UnknownFault):
        return NotThere(str(error))
    if isinstance(error, check.WrongFault):
        return Malformed(str(error))
    return FaultImpossible(str(error))


FILE_SYSTEM_STATUS = {
    "ENOENT": 404, "EEXIST": 409, "ENOTDIR": 409, "EISDIR": 409, "ENOTEMPTY": 409, "EBUSY": 409, "EACCES": 403,
    "EINVAL": 422, "ENAMETOOLONG": 422, "EFBIG": 422, "ETIMEDOUT": 504,
}  # fmt: skip


def file_system_status(name: str) -> int:
    """The HTTP status for a POSIX error name; 503 for temporary errors."""
    return FILE_SYSTEM_STATUS.get(name, 503)


def reason_of(error: OSError) -> str:
    """The system's text for an error, without number or path."""
    return os.strerror(error.errno) if error.errno else str(error) or errno.errorcode.get(0, "error")
