"""The digest of a namespace: 64 bits that two replicas have in common when their state is the same.

It is a sum modulo 2^64 over everything that the state consists of, in any order, so that a change costs as much as what it changes. An *entry* is
a MessagePack array that begins with its kind; integers and texts are encoded in their shortest form, the keys of maps ascend. Its *term* is
XXH3 (64 bits, seed 0) of these bytes. The parts of the sum are:

========================================  ==========================================================================================
a file                                    term of [1, inode, mode, mtime, atime, owner, group, replication, length, names]
a directory                               term of [2, inode, mode, atime, owner, group, replication, length, names],
                                          and mtime times the term of [3, inode]
a name                                    term of [4, parent, name, child]
all moves of directories                  their count times the term of [5]
a placement value                         term of [6, inode, depth, dir_group, dir_num, file_group, file_num]
an orphan                                 term of [7, inode]
a session                                 (3 + its lowest open call) times k, the term of [8, client],
                                          and the time of its last use times the term of [14, client]
a result of a session                     term of [9, k, call, what]: the inode of `Made`, the error of `Failed`, -1 less the leg of `Absent`,
                                          or the kind of another result
a body                                    term of [10, inode, block size, writer]: nil, or [client, call]
a block                                   term of [11, inode, block, stamp, length]
an operation of several groups            term of [12, table, key, value] as it lies in the image
how many of these a group has begun       that count times the term of [13]
========================================  ==========================================================================================

Times are in nanoseconds. An mtime that is multiplied costs no hashing when a directory is touched, which every change below it does. Nothing
here depends on the process, its hash seed, or the version of Python. Images carry the digest: whoever changes it gives them a new format number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from xxhash import xxh3_64_intdigest

MASK = (1 << 64) - 1
FILE, DIRECTORY, MTIME, NAME, MOVES, UNIT, ORPHAN, SESSION, RESULT, BODY, BLOCK, CROSSING, BEGUN, USED = (
    range(1, 15)
)

_encode = msgspec.msgpack.Encoder().encode


def term(entry: tuple[Any, ...]) -> int:
    """64 bits that stand for an entry."""
    return xxh3_64_intdigest(_encode(entry))


@lru_cache(maxsize=4096)
def mtime_factor(directory: int) -> int:
    """What the mtime of a directory, by inode number, is multiplied by."""
    return term((MTIME, directory))


MOVE_TERM = term((MOVES,))
BEGUN_TERM = term((BEGUN,))
