"""Control sockets whose process ends while a caller is connected."""

import asyncio
import logging
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from nodes.coordination.control import EnsembleControl as CoordinationControl
from nodes.real.control import Control

Served = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def of_process(path: Path) -> None:
    await Control().listen(path)


async def of_coordination(path: Path) -> None:
    await asyncio.start_unix_server(CoordinationControl(MagicMock()).serve, str(path))


@pytest.mark.parametrize("listen", [of_process, of_coordination])
def test_the_end_of_a_process_leaves_no_traceback_of_an_open_connection(
    tmp_path: Path, listen: Any, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "s.sock"
    kept: list[Served] = []

    async def body() -> None:
        await listen(path)
        kept.append(await asyncio.open_unix_connection(str(path)))
        kept[0][1].write(b"{}\n")
        await kept[0][0].readline()

    asyncio.run(body())
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
