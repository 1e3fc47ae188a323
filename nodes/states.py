"""The states of a process and of a session with the coordination service. mypy rejects a comparison with any other string."""

from __future__ import annotations

from typing import Literal

ProcessState = Literal["running", "paused", "stopped"]
SessionState = Literal["connected", "suspended", "lost"]
"""Suspended: no answer is sent. Lost: the session and its ephemeral nodes are gone, and the tenure ends."""
