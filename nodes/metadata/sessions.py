"""The memory of clients' calls, a part of the namespace's state (safety rule 10): opened, filled and ended by records only."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.metadata.digest import MASK, RESULT, SESSION, USED, term
from nodes.metadata.operations import Absent, Failed, Made, Result
from nodes.metadata.tree import Undo
from nodes.units import OpId

OPEN_MAX = 4096
"""Largest number of open calls of one client."""
CLOSED = 1 << 62
"""Value of the lowest open call in a closed session: every call is refused, even one that would open the session again."""


class ClientSession:
    """One client's session: results by call number, from `lowest_open` on."""

    __slots__ = ("key", "lowest_open", "results", "terms", "used_key", "used_ns")

    def __init__(self, client: str):
        self.key = term((SESSION, client))
        self.used_key = term((USED, client))
        self.lowest_open = 0
        self.used_ns = 0
        """Stamp of the last record of this client."""
        self.results: dict[int, Result] = {}
        self.terms: dict[int, int] = {}
        """Digest terms of results, so that they are not computed again on removal. Some results have none."""

    @property
    def term(self) -> int:
        """Digest term of the session without its results."""
        return self.key * 3 + self.key * self.lowest_open + self.used_ns * self.used_key

    def result_term(self, number: int, result: Result) -> int:
        if type(result) is Made:
            return term((RESULT, self.key, number, result.inode))
        if type(result) is Absent:
            return term((RESULT, self.key, number, -1 - result.leg))
        return term(
            (RESULT, self.key, number, result.error if type(result) is Failed else type(result).__name__)
        )


class ClientSessions:
    """All sessions of one namespace. `short` opens the hole of a short memory: only the newest result of all is kept."""

    def __init__(self, short: bool, forgets_closing: bool = False):
        self._short = short
        self._forgets_closing = forgets_closing
        """The known bug `closing_forgotten`."""
        self._sessions: dict[str, ClientSession] = {}
        self._taken_over: set[tuple[int, int]] = set()
        self.digest = 0

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._sessions.items())

    def __len__(self) -> int:
        return len(self._sessions)

    def known(self, client: str) -> bool:
        return client in self._sessions

    def recorded(self, op_id: OpId) -> Result | None:
        """The result of a call that has been executed and may still be asked for."""
        session = self._sessions.get(op_id.client)
        return None if session is None else session.results.get(op_id.number)

    def lowest_open(self, client: str) -> int:
        """Calls below it are forgotten. Raises KeyError."""
        return self._sessions[client].lowest_open

    def used_ns(self, client: str) -> int:
        """Stamp of the last record of this client; 0 when it is not known."""
        session = self._sessions.get(client)
        return 0 if session is None else session.used_ns

    def unused_since(self, stamp_ns: int) -> list[str]:
        """Clients without a record since this stamp."""
        return [client for client, session in self._sessions.items() if session.used_ns <= stamp_ns]

    def recompute_digest(self) -> int:
        total = 0
        for session in self._sessions.values():
            total += session.term
            total += sum(session.result_term(number, result) for number, result in session.results.items())
        return total & MASK

    # --- changes ---------------------------------------------------------------------------------------------------

    def open(self, client: str, since: int, undo: Undo) -> None:
        """Opens a session and leaves an open one unchanged. In a new session, calls with numbers below `since` are refused."""
        if client in self._sessions:
            return
        if undo is not None:
            undo.append((self._unopen, client, self.digest))
        session = self._sessions[client] = ClientSession(client)
        session.lowest_open = since
        self.digest = (self.digest + session.term) & MASK

    def _unopen(self, client: str, digest: int) -> None:
        del self._sessions[client]
        self.digest = digest

    def close(self, op_id: OpId, result: Result, at_ns: int, undo: Undo) -> None:
        """Forgets all results but its own, and refuses every other call until the session ends. A late copy of the opening call does not open
        the session again."""
        self.end(op_id.client, undo)
        closed = self._sessions[op_id.client] = ClientSession(op_id.client)
        closed.lowest_open, closed.used_ns = CLOSED, at_ns
        self.digest = (self.digest + closed.term) & MASK
        if not self._forgets_closing:
            closed.results[op_id.number] = result
            self.digest = (self.digest + closed.result_term(op_id.number, result)) & MASK

    def end(self, client: str, undo: Undo) -> None:
        session = self._sessions.pop(client)
        if undo is not None:
            undo.append((self._unend, client, session, self.digest))
        gone = session.term + sum(
            session.result_term(number, result) for number, result in session.results.items()
        )
        self.digest = (self.digest - gone) & MASK

    def _unend(self, client: str, session: ClientSession, digest: int) -> None:
        self._sessions[client] = session
        self.digest = digest

    def remember(self, op_id: OpId, lowest_open: int, result: Result, at_ns: int, undo: Undo) -> None:
        """Keeps a result, replacing an `Absent` if there is one, and forgets results that the client has received."""
        if self._short:
            self._forget_all(undo)
        session = self._sessions[op_id.client]
        results = session.results
        old_lowest, old_used_ns = session.lowest_open, session.used_ns
        before = results.pop(op_id.number, None)
        gone_term = session.terms.get(op_id.number, 0)
        change = session.terms[op_id.number] = session.result_term(op_id.number, result)
        if before is not None:
            change -= gone_term or session.result_term(op_id.number, before)
        change += (at_ns - old_used_ns) * session.used_key
        session.used_ns = at_ns
        forgotten: list[tuple[int, Result]] = []
        if lowest_open > old_lowest:
            change += session.key * (lowest_open - old_lowest)
            session.lowest_open = lowest_open
            numbers: Iterable[int] = range(old_lowest, lowest_open)
            if lowest_open - old_lowest > len(results):
                numbers = [number for number in results if number < lowest_open]
            for number in numbers:
                gone = results.pop(number, None)
                if gone is not None:
                    change -= session.terms.pop(number, 0) or session.result_term(number, gone)
                    forgotten.append((number, gone))
        if undo is not None:
            if before is not None:
                forgotten.append((op_id.number, before))
            undo.append(
                (self._unremember, session, op_id.number, old_lowest, old_used_ns, forgotten, self.digest)
            )
        results[op_id.number] = result
        self.digest = (self.digest + change) & MASK

    def _unremember(
        self,
        session: ClientSession,
        number: int,
        lowest_open: int,
        used_ns: int,
        forgotten: list[tuple[int, Result]],
        digest: int,
    ) -> None:
        del session.results[number]
        session.terms.pop(number, None)
        session.results.update(forgotten)
        session.lowest_open, session.used_ns = lowest_open, used_ns
        self.digest = digest

    def forget_taken_over(self) -> None:
        """The known bug `duplicate_after_second_failover`: results taken over from the previous tenure are dropped when the next one begins."""
        for session in self._sessions.values():
            for number in [number for number in session.results if (session.key, number) in self._taken_over]:
                gone = session.result_term(number, session.results.pop(number))
                self.digest = (self.digest - gone) & MASK
        self._taken_over = {(s.key, number) for s in self._sessions.values() for number in s.results}

    def _forget_all(self, undo: Undo) -> None:
        kept = [(session, dict(session.results)) for session in self._sessions.values() if session.results]
        if undo is not None:
            undo.append((self._unforget, kept, self.digest))
        for session, results in kept:
            gone = sum(session.result_term(number, result) for number, result in results.items())
            session.results.clear()
            session.terms.clear()
            self.digest = (self.digest - gone) & MASK

    def _unforget(self, kept: list[tuple[ClientSession, dict[int, Result]]], digest: int) -> None:
        for session, results in kept:
            session.results.update(results)
        self.digest = digest

    # --- images ----------------------------------------------------------------------------------------------------

    def restore(self, client: str, lowest_open: int, used_ns: int, results: dict[int, Result]) -> None:
        session = self._sessions[client] = ClientSession(client)
        session.lowest_open, session.used_ns, session.results = lowest_open, used_ns, results
        terms = sum(session.result_term(number, result) for number, result in results.items())
        self.digest = (self.digest + session.term + terms) & MASK
