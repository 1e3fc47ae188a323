"""The control socket: one JSON line per question and answer; `follow` is answered with a line for each change, without end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import msgspec

from nodes.coordination.clocks import monotonic_ns, wall_ms
from nodes.coordination.operations import TreeChange
from nodes.coordination.service import ZooKeeperService
from nodes.coordination.tree import OPERATOR
from nodes.coordination.znode import Znode

LINE_BYTES = 64 * 1024
FOLLOWER_BYTES = 32 * 1024 * 1024
"""A follower that lags by more bytes is dropped; it begins again with the whole tree."""


class Ask(msgspec.Struct, forbid_unknown_fields=True):
    do: str
    session: int = 0


class EnsembleControl:
    """No link rule touches this socket."""

    def __init__(self, service: ZooKeeperService):
        self._service = service
        self._followers: dict[asyncio.StreamWriter, None] = {}
        self._pass = 0, 0
        """at_ms and at_ns of the last change: expiries of one pass share both."""
        self._answers: dict[str, Callable[[Ask], dict[str, Any]]] = {
            "expire": self._on_session(lambda number: service.expire(number, wall_ms())),
            "refuse": self._on_session(service.refuse),
            "accept": self._on_session(service.accept),
            "sessions": lambda ask: {"ok": True, "zxid": service.tree.zxid, "sessions": self._sessions()},
            "tree": lambda ask: {"ok": True, "zxid": service.tree.zxid, "nodes": self._nodes()},
        }
        service.tree.listeners.append(self._changed)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """A caller may be connected when the server ends: streams of Python 3.11 log a traceback for a cancelled connection."""
        with contextlib.suppress(ConnectionError, asyncio.CancelledError):
            try:
                while line := await reader.readline():
                    self._on_line(line, writer)
                    await writer.drain()
            except ValueError:
                self._write(writer, {"ok": False, "error": f"a line has at most {LINE_BYTES} bytes"})
        self._followers.pop(writer, None)
        writer.close()

    def _on_line(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        try:
            ask = msgspec.json.decode(line, type=Ask)
        except msgspec.MsgspecError as error:
            self._write(writer, {"ok": False, "error": str(error)})
            return
        if ask.do == "follow":
            self._follow(writer)
        elif ask.do in self._answers:
            answer = self._answers[ask.do](ask)
            self._service.commits.after(lambda: self._write(writer, answer))
        else:
            known = ", ".join([*self._answers, "follow"])
            self._write(writer, {"ok": False, "error": f"unknown: {ask.do!r}; there is {known}"})

    def _on_session(self, step: Callable[[int], bool]) -> Callable[[Ask], dict[str, Any]]:
        def answer(ask: Ask) -> dict[str, Any]:
            if step(ask.session):
                return {"ok": True}
            return {"ok": False, "error": f"no session {ask.session} to {ask.do}"}

        return answer

    def _write(self, writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
        if not writer.is_closing():
            writer.write(msgspec.json.encode(answer) + b"\n")

    def _sessions(self) -> list[dict[str, Any]]:
        return [
            {
                "session": one.number,
                "timeout_ms": one.timeout_ms,
                "connected": one.number in self._service.lines,
                "refused": one.number in self._service.refused,
                "ephemerals": sorted(one.ephemerals),
            }
            for one in self._service.tree.sessions.open.values()
        ]

    def _nodes(self) -> list[dict[str, Any]]:
        return [self._node(path, node) for path, node in sorted(self._service.tree.nodes.items())]

    def _node(self, path: str, node: Znode) -> dict[str, Any]:
        stat = node.stat()
        return {
            "path": path,
            "data": node.data.decode(errors="replace"),
            "owner": node.owner,
            "version": stat.version,
            "cversion": stat.cversion,
            "czxid": stat.czxid,
            "mzxid": stat.mzxid,
            "mtime_ms": stat.mtime,
            "watches": self._service.tree.watches.of(path),
        }

    # --- following ----------------------------------------------------------------------------------------

    def _follow(self, writer: asyncio.StreamWriter) -> None:
        """Sends the existing nodes as changes with op `is`; then every change, once it is durable."""
        at_ns, tree = monotonic_ns(), self._service.tree
        for path, node in sorted(tree.nodes.items()):
            reported = TreeChange(node.mzxid, "is", node.owner, node.mtime, [])
            self._later(writer, self._line(reported, at_ns, "is", path))
        self._followers[writer] = None

    def _changed(self, reported: TreeChange) -> None:
        if not self._followers:
            return
        if reported.op != "expire" or reported.at_ms != self._pass[0]:
            self._pass = reported.at_ms, monotonic_ns()
        at_ns = self._pass[1]
        touched = [(each.kind, each.path) for each in reported.touched]
        lines = [self._line(reported, at_ns, kind, path) for kind, path in touched]
        if reported.op in ("open", "close", "expire"):
            lines.append(self._line(reported, at_ns, reported.op, ""))
        for writer in list(self._followers):
            for line in lines:
                self._later(writer, line)

    def _line(self, reported: TreeChange, at_ns: int, kind: str, path: str) -> dict[str, Any]:
        """`session` is the owner of an ephemeral node, else the session that made the change; a removed node's data is null."""
        node = self._service.tree.nodes.get(path)
        owner = node.owner if node is not None else OPERATOR
        return {
            "zxid": reported.zxid,
            "op": reported.op,
            "kind": kind,
            "path": path,
            "session": owner or reported.session,
            "by": reported.session,
            "ephemeral": owner != OPERATOR,
            "data": None if node is None else node.data.decode(errors="replace"),
            "version": -1 if node is None else node.version,
            "at_ms": reported.at_ms,
            "at_ns": at_ns,
        }

    def _later(self, writer: asyncio.StreamWriter, line: dict[str, Any]) -> None:
        def step() -> None:
            self._write(writer, line)
            if writer.transport.get_write_buffer_size() > FOLLOWER_BYTES:
                self._followers.pop(writer, None)
                writer.transport.abort()

        self._service.commits.after(step)
