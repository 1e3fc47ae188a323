"""One frame's payload: an array of messages, in MessagePack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import msgspec

from nodes.wire.messages import Message


class BadFrame(Exception):
    """A frame that is not an array of messages this side knows; one line says why."""


class Codec:
    """Encodes and decodes lists of messages of the given types."""

    def __init__(self, message_types: Sequence[type[Message]]):
        self.encode = msgspec.msgpack.Encoder().encode
        """`encode(messages) -> bytes`"""
        known: Any = Union.__getitem__(tuple(message_types))
        self._decoder: Any = msgspec.msgpack.Decoder(list[known])

    def decode(self, octets: bytes) -> list[Message]:
        """Raises BadFrame."""
        try:
            messages: list[Message] = self._decoder.decode(octets)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise BadFrame(f"not an array of known messages: {error}") from None
        return messages
