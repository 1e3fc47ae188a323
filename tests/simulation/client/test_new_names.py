"""Names with control characters: refused when they would be created, and kept where an earlier version created them."""

from __future__ import annotations

import pytest

from nodes.errors import FsError
from nodes.metadata.operations import Create, Delete, Link, List, Mkdir, Rename, Write
from nodes.metadata_server import request_handler
from nodes.protocols.symmetric import requests
from tests.simulation.baselines.lab import lab_of
from tests.simulation.client.test_mutations import FAMILIES

REFUSED: list[Write] = [
    Create("/a\nb"),
    Create("/\x1b[2J"),
    Mkdir("/a\x7f"),
    Mkdir("/d/e\r/f", parents=True),
    Rename("/d", "/\x9b31m"),
    Link("/f", "/d/\t"),
]


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_new_name_has_no_control_characters(protocol: str) -> None:
    lab = lab_of(protocol, 1)
    lab.ada.call(Mkdir("/d"))
    lab.ada.call(Create("/f"))
    for operation in REFUSED:
        with pytest.raises(FsError, match="has a control character"):
            lab.ada.call(operation)
    assert lab.eve.call(List("/")).result.names == ["d", "f"]  # type: ignore[union-attr]
    lab.finish()
    assert lab.broken() == {}


@pytest.mark.parametrize("protocol", FAMILIES)
def test_a_journal_that_has_such_names_is_read_as_before(
    protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = lab_of(protocol, 1)
    with monkeypatch.context() as earlier:
        for module in (request_handler, requests):
            earlier.setattr(module, "check_new_names", lambda operation: None)
        lab.ada.call(Mkdir("/a\nb"))
        lab.ada.call(Create("/a\nb/c\x1b"))
    for server in list(lab.cluster.view()):
        lab.faults.crash(server)
    lab.run_ms(8_000)
    lab.mend()
    assert lab.eve.call(List("/a\nb")).result.names == ["c\x1b"]  # type: ignore[union-attr]
    lab.ada.call(Create("/a\nb/clean"))
    lab.ada.call(Rename("/a\nb", "/ab"))
    lab.ada.call(Delete("/ab/c\x1b"))
    assert lab.eve.call(List("/ab")).result.names == ["clean"]  # type: ignore[union-attr]
    lab.finish()
    assert lab.broken() == {}
