"""The digest of a namespace: 64 bits that are equal on two replicas in the same state.

The digest is a sum modulo 2^64 over all entries of the state, in any order. The cost of an update is that of the changed entries. An *entry* is
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

Times are in nanoseconds. A multiplied mtime needs no hashing when a directory is touched, and every change below a directory touches it.
The digest does not depend on the process, its hash seed, or the version of Python. Images carry the digest: a change of its definition needs a new
format number of images.
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
    """The 64-bit digest term of an entry."""
    return xxh3_64_intdigest(_encode(entry))


@lru_cache(maxsize=4096)
def mtime_factor(directory: int) -> int:
    """The factor of a directory's mtime in the digest, by inode number."""
    return term((MTIME, directory))


MOVE_TERM = term((MOVES,))
BEGUN_TERM = term((BEGUN,))
