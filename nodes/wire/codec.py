"""One frame's payload: an array of messages, in MessagePack; between processes beside an array of what led to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Union

import msgspec

from nodes.wire.messages import Message

NAME_MOST = 80
"""Characters of the name in a cause."""
NUMBER_MOST = 1 << 53
"""What a browser counts exactly."""
Cause = tuple[
    Annotated[str, msgspec.Meta(max_length=NAME_MOST)], Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MOST)]
]
"""What led to a message (nodes/trace/present.py), as it is taken from others."""


class BadFrame(Exception):
    """A frame that is not an array of messages this side knows; one line says why."""


class Codec:
    """Encodes and decodes lists of messages of the given types."""

    def __init__(self, message_types: Sequence[type[Message]]):
        self.encode = msgspec.msgpack.Encoder().encode
        """`encode(messages) -> bytes`"""
        known: Any = Union.__getitem__(tuple(message_types))
        self._decoder: Any = msgspec.msgpack.Decoder(list[known])
        self._framed: Any = msgspec.msgpack.Decoder(tuple[list[known], list[Cause]])

    def decode(self, octets: bytes) -> list[Message]:
        """Raises BadFrame."""
        messages: list[Message] = _decoded(self._decoder, octets)
        return messages

    def frame(self, messages: list[Message], causes: list[Cause]) -> bytes:
        """A frame between processes: messages, and what led to each of them; no causes when none is known."""
        return self.encode((messages, causes if any(number for _, number in causes) else ()))

    def framed(self, octets: bytes) -> tuple[list[Message], list[Cause]]:
        """A frame taken apart; one cause for each message, or none at all. Raises BadFrame."""
        messages, causes = _decoded(self._framed, octets)
        if causes and len(causes) != len(messages):
            raise BadFrame(f"{len(causes)} causes for {len(messages)} messages")
        return messages, causes


def _decoded(decoder: Any, octets: bytes) -> Any:
    """Raises BadFrame."""
    try:
        return decoder.decode(octets)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"not an array of known messages: {error}") from None
