"""Paths: absolute, UTF-8, names of at most 255 bytes, at most 4,096 bytes in all, no NUL, no `.` or `..`."""

from __future__ import annotations

from nodes.errors import FsError

NAME_MAX = 255
PATH_MAX = 4096


def split(path: str) -> list[str]:
    """The names of a path, none for the root. Raises FsError EINVAL or ENAMETOOLONG."""
    names = path.split("/")
    if names.pop(0) or not names:
        raise FsError("EINVAL", f"the path {shown(path)} does not begin with /")
    if names == [""]:
        return []
    if "" in names or "." in names or ".." in names or "\0" in path:
        raise FsError("EINVAL", f"the path {shown(path)} has an empty name, a `.`, a `..` or a NUL in it")
    if len(path) > NAME_MAX or not path.isascii():
        _check_bytes(path, names)
    return names


def _check_bytes(path: str, names: list[str]) -> None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise FsError("EINVAL", f"the path {shown(path)} is not Unicode text") from None
    if size > PATH_MAX:
        raise FsError("ENAMETOOLONG", f"a path of {size} bytes; {PATH_MAX} is the most")
    longest = max(len(name.encode()) for name in names)
    if longest > NAME_MAX:
        raise FsError("ENAMETOOLONG", f"a name of {longest} bytes in the path; {NAME_MAX} is the most")


def shown(path: str) -> str:
    """A path for display in a line: escaped, and cut when it is long."""
    return ascii(path if len(path) <= 80 else path[:77] + "...")
