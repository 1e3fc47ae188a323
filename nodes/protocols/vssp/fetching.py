"""Octets of a file from whichever pool node gives them: checked chunk by chunk, the next source is asked when one fails."""

from __future__ import annotations

from nodes.config import MILLISECOND
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.packets import PACKET_OCTETS, bad_chunk
from nodes.protocols.vssp.serving import PIECE_MOST
from nodes.wire.calls import Calls

ANSWER_NS = 1_000 * MILLISECOND
TRIES = 3
"""Times that every source is asked for the same piece."""
AT_ONCE = PIECE_MOST // PACKET_OCTETS


class NotFetched(Exception):
    """No source gave what was asked for; one line says what."""


async def fetch_piece(calls: Calls, sources: list[str], file: str, offset: int, length: int) -> bytes:
    """At least one octet from `offset` on. The first source is asked first; one that fails goes to the end of the list. Raises NotFetched."""
    for _ in range(len(sources) * TRIES):
        source = sources[0]
        reply = await calls.ask(source, m.FetchFile(0, file, offset, length), ANSWER_NS)
        if (
            isinstance(reply, m.FilePiece)
            and (reply.file, reply.offset) == (file, offset)
            and 0 < len(reply.octets) <= length
            and bad_chunk(reply.octets, reply.sums) is None
        ):
            return reply.octets
        sources.append(sources.pop(0))
    raise NotFetched(f"none of {', '.join(sources) or 'nobody'} gives {file} at offset {offset}")


async def fetch_sums(calls: Calls, source: str, file: str, size: int) -> list[int]:
    """The CRC-32C of each packet of the source's replica. Raises NotFetched."""
    found: list[int] = []
    while len(found) * PACKET_OCTETS < size:
        for _ in range(TRIES):
            reply = await calls.ask(source, m.AskSums(0, file, len(found)), ANSWER_NS)
            if (
                isinstance(reply, m.SumsTold)
                and (reply.file, reply.packet) == (file, len(found))
                and reply.sums
            ):
                found += reply.sums
                break
        else:
            raise NotFetched(f"{source} does not tell the checksums of {file}")
    return found
