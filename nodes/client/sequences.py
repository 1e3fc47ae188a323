"""Calls that are sequences of others when a path may lead through several groups (safety rule 12): not atomic."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nodes.errors import FsError
from nodes.metadata.operations import Attributes, List, Listing, Made, Mkdir, Operation, Stat, Summary
from nodes.wire.messages import Answer

Run = Callable[[Operation], Awaitable[Answer]]


async def mkdir_parents(run: Run, operation: Mkdir) -> Answer:
    """mkdir with parents is a sequence of mkdirs (safety rule 12)."""
    names = operation.path.split("/")
    for depth in range(2, len(names)):
        try:
            await run(Mkdir("/".join(names[:depth]), False, operation.mode))
        except FsError as error:
            if error.name != "EEXIST":
                raise
    while True:
        try:
            return await run(Mkdir(operation.path, False, operation.mode))
        except FsError as error:
            if error.name != "EEXIST":
                raise
            try:
                answer = await run(Stat(operation.path))
            except FsError as gone:
                if gone.name == "ENOENT":
                    continue  # It was removed meanwhile.
                raise
            if answer.result.kind != "directory":  # type: ignore[union-attr]
                raise
            answer.result = Made(answer.result.inode)  # type: ignore[union-attr]
            return answer


async def summary(run: Run, path: str) -> Answer:
    """Counts object by object: objects below the path may be at home in any group, and may change meanwhile."""
    answer = await run(Stat(path))
    reported = answer.result
    assert isinstance(reported, Attributes)
    if reported.kind == "file":
        answer.result = Summary(0, 1, reported.length)
        return answer
    directories, files, size, after, more = 1, 0, 0, "", True
    while more:
        listed = (await run(List(path, after))).result
        assert isinstance(listed, Listing)
        for name in listed.names:
            try:
                below = (await summary(run, f"{path.rstrip('/')}/{name}")).result
            except FsError as error:
                if error.name in ("ENOENT", "ENOTDIR"):
                    continue  # It was removed or replaced meanwhile.
                raise
            assert isinstance(below, Summary)
            directories += below.directories
            files += below.files
            size += below.size
        more = listed.more
        after = listed.names[-1] if listed.names else ""
    answer.result = Summary(directories, files, size)
    return answer
