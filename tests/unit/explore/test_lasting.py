"""The audit's own clients while their sessions end early."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from nodes.errors import FsError
from nodes.explore.lasting import dead_writers_file


class Writer:
    """A prober whose writes end with this error, if any."""

    name = "w"

    def __init__(self, error: str):
        self.error = error
        self.died = False
        self.client = SimpleNamespace(die=self.die, client=None)

    def die(self) -> None:
        self.died = True

    def run(self, procedure: Any) -> None:
        procedure.close()
        if self.error:
            raise FsError(self.error, "as the test wants it")


def test_a_writer_that_has_written_dies_with_its_file() -> None:
    writer: Any = Writer("")
    assert dead_writers_file(writer) == "/w" and writer.died


def test_a_writer_whose_session_ended_first_holds_nothing() -> None:
    writer: Any = Writer("ETIMEDOUT")
    assert dead_writers_file(writer) == "" and not writer.died


def test_another_error_is_not_excused() -> None:
    writer: Any = Writer("EIO")
    with pytest.raises(FsError):
        dead_writers_file(writer)
