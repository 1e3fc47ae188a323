"""The supervisor's port on the control network: mutual authentication with the token, then questions and answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec

from nodes.log_lines import log
from nodes.real.connection import PeerConnection, ProcessIdentity, Ungreeted
from nodes.real.control import BadQuestion
from nodes.real.throttle import Throttle
from nodes.supervisor.keeper import NotReady
from nodes.supervisor.messages import CLUSTER, ControlQuestion, ControlReply, SupervisorMessage
from nodes.supervisor.secret import read_secret
from nodes.wire.codec import BadFrame
from nodes.wire.keys import Realm, WeakToken

OPEN_MAX = 32
"""Questions of one connection that may wait for their answers."""
ANSWER_S = 2.0
ANSWER_MAX_S = 60.0
REFUSALS = (
    BadQuestion,
    NotReady,
    WeakToken,
    OSError,
    TimeoutError,
    ValueError,
    KeyError,
    TypeError,
    msgspec.ValidationError,
)
Step = Callable[[PeerConnection, dict[str, Any]], Any]


class ControlCalls:
    """`steps` by the question's `do`; a step may be a coroutine function."""

    def __init__(
        self, name: str, token_file: Path, steps: dict[str, Step], on_closed: Callable[[PeerConnection], None]
    ):
        self._name = name
        self._token_file = token_file
        self._steps = steps
        self._on_closed = on_closed
        self.connections: list[PeerConnection] = []
        self._ungreeted = Ungreeted()
        self._throttle = Throttle()
        self._tasks: dict[asyncio.Task[None], PeerConnection] = {}

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Raises OSError when the port is taken."""
        return await asyncio.get_running_loop().create_server(self._accepting, host, port)

    def report(self, connection: PeerConnection, reported: SupervisorMessage) -> None:
        connection.send(msgspec.msgpack.encode(reported))

    def report_all(self, reported: SupervisorMessage) -> None:
        for connection in self.connections:
            self.report(connection, reported)

    def _accepting(self) -> PeerConnection:
        identity = ProcessIdentity(CLUSTER, self._name, Realm.SUPERVISOR, self._keys())
        return self._ungreeted.add(
            PeerConnection(identity, "", self._opened, self._asked, self._closed, self._warn_of)
        )

    def _keys(self) -> dict[Realm, bytes]:
        """This supervisor's key, from its secret, which may come later. Without one each connection is closed at once."""
        try:
            return {Realm.SUPERVISOR: read_secret(self._token_file, self._name).supervisor}
        except OSError as error:
            self._warn(f"no token in {self._token_file}: {error.strerror}; every call is refused")
        except WeakToken as weak:
            self._warn(f"{weak}; every call is refused")
        return {}

    def _warn(self, line: str) -> None:
        self._warn_of("", line)

    def _warn_of(self, peer: str, line: str) -> None:
        if self._throttle.passes(peer):
            log("warning", f"supervisor of {self._name}", line)

    def _opened(self, connection: PeerConnection) -> None:
        self._ungreeted.remove(connection)
        self.connections.append(connection)

    def _closed(self, connection: PeerConnection) -> None:
        self._ungreeted.remove(connection)
        if connection in self.connections:
            self.connections.remove(connection)
            self._on_closed(connection)

    def _asked(self, connection: PeerConnection, payload: bytes) -> None:
        """Raises BadFrame."""
        try:
            question = msgspec.msgpack.decode(payload, type=ControlQuestion)
        except msgspec.DecodeError as error:
            raise BadFrame(f"no question: {error}") from None
        if sum(owner is connection for owner in self._tasks.values()) >= OPEN_MAX:
            self.report(connection, ControlReply(question.id, f"more than {OPEN_MAX} questions at once"))
            return
        task = asyncio.get_running_loop().create_task(self._answer(connection, question))
        self._tasks[task] = connection
        task.add_done_callback(self._tasks.pop)

    async def _answer(self, connection: PeerConnection, question: ControlQuestion) -> None:
        try:
            step = self._steps.get(question.do)
            if step is None:
                raise BadQuestion(f"{question.do[:40]!r} is not offered; there are {', '.join(self._steps)}")
            answered = step(connection, question.args)
            if isinstance(answered, Awaitable):
                answered = await answered
        except REFUSALS as error:
            said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            self.report(
                connection, ControlReply(question.id, " ".join(said.split())[:400] or type(error).__name__)
            )
            return
        self.report(connection, ControlReply(question.id, "", answered or {}))


def answer_time_s(args: dict[str, Any]) -> float:
    """Time in which a server answers a question: as much as the control plane asks for, within a bound. Raises ValueError, TypeError."""
    return min(float(args.get("within_s", ANSWER_S)), ANSWER_MAX_S)
