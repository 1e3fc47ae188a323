"""The base class of events."""

from __future__ import annotations

import msgspec


class Event(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Base of all events; the tag is the class name."""
