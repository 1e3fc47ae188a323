"""Fetching of file content from pool nodes: it is checked chunk by chunk, and the next source is asked when one fails."""

from __future__ import annotations

from nodes.calls import Calls
from nodes.config import MILLISECOND
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.image_server import PIECE_MOST
from nodes.protocols.vssp.packets import PACKET_BYTES, bad_chunk

ANSWER_NS = 1_000 * MILLISECOND
TRIES = 3
"""Number of times that every source is asked for the same piece."""
AT_ONCE = PIECE_MOST // PACKET_BYTES


class NotFetched(Exception):
    """No source returned the requested content; one line names it."""


async def fetch_piece(calls: Calls, sources: list[str], file: str, offset: int, length: int) -> bytes:
    """At least one byte from `offset` on. The first source is asked first; one that fails goes to the end of the list. Raises NotFetched."""
    for _ in range(len(sources) * TRIES):
        source = sources[0]
        reply = await calls.ask(source, m.FetchFile(0, file, offset, length), ANSWER_NS)
        if (
            isinstance(reply, m.FilePiece)
            and (reply.file, reply.offset) == (file, offset)
            and 0 < len(reply.data) <= length
            and bad_chunk(reply.data, reply.sums) is None
        ):
            return reply.data
        sources.append(sources.pop(0))
    raise NotFetched(f"none of {', '.join(sources) or 'no server'} gives {file} at offset {offset}")


async def fetch_sums(calls: Calls, source: str, file: str, size: int) -> list[int]:
    """The CRC-32C of each packet of the source's replica. Raises NotFetched."""
    found: list[int] = []
    while len(found) * PACKET_BYTES < size:
        for _ in range(TRIES):
            reply = await calls.ask(source, m.AskSums(0, file, len(found)), ANSWER_NS)
            if (
                isinstance(reply, m.SumsReply)
                and (reply.file, reply.packet) == (file, len(found))
                and reply.sums
            ):
                found += reply.sums
                break
        else:
            raise NotFetched(f"{source} does not tell the checksums of {file}")
    return found
