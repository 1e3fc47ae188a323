"""ZooKeeper's result codes, as on the wire."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    OK = 0
    RUNTIME_INCONSISTENCY = -2
    """Code of an operation in a multi that was not tried because an earlier one failed."""
    UNIMPLEMENTED = -6
    BAD_ARGUMENTS = -8
    NO_NODE = -101
    NO_AUTH = -102
    BAD_VERSION = -103
    NO_CHILDREN_FOR_EPHEMERALS = -108
    NODE_EXISTS = -110
    NOT_EMPTY = -111
    SESSION_EXPIRED = -112
    INVALID_ACL = -114
    AUTH_FAILED = -115
    QUOTA_EXCEEDED = -125


class OperationRefused(Exception):
    """An operation that did not happen, with its code."""

    def __init__(self, code: Code):
        super().__init__(code.name)
        self.code = code
