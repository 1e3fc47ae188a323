"""The error registry: every error that the file system can return to an application."""

from __future__ import annotations

import msgspec


class ErrorKind(msgspec.Struct, frozen=True):
    """`definite`: the operation has surely not been executed, nor will it be."""

    name: str
    meaning: str
    definite: bool = True


REGISTRY: dict[str, ErrorKind] = {
    kind.name: kind
    for kind in (
        ErrorKind("ENOENT", "no such file or directory"),
        ErrorKind("EEXIST", "the name is taken"),
        ErrorKind("ENOTDIR", "not a directory"),
        ErrorKind("EISDIR", "is a directory"),
        ErrorKind("ENOTEMPTY", "the directory is not empty"),
        ErrorKind("EINVAL", "not a valid argument"),
        ErrorKind("ENAMETOOLONG", "the name or path is too long"),
        ErrorKind("EBUSY", "somebody else writes the file"),
        ErrorKind("EMLINK", "the file has too many names"),
        ErrorKind("EFBIG", "the file is too large"),
        ErrorKind(
            "EIO",
            "no data node has what was asked for, or none takes it; or a forced group has lost the object",
        ),
        ErrorKind("EAGAIN", "too many calls of this client are open"),
        ErrorKind("ESTALE", "the client's session or this call of it is not known any more"),
        ErrorKind("ETIMEDOUT", "no answer in time: the outcome is unknown", definite=False),
    )
}


class FsError(Exception):
    """An operation was refused, or its outcome is unknown. Raises KeyError when the name is not in the registry."""

    def __init__(self, name: str, message: str = ""):
        self.name = name
        self.message = message or REGISTRY[name].meaning
        super().__init__(name, self.message)

    @property
    def definite(self) -> bool:
        return REGISTRY[self.name].definite

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


class Damaged(Exception):
    """Data on a server's disk must not be used before a person examines it; one line gives the place and the reason."""
