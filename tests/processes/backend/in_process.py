"""A control plane of simulated clusters in the process of the test, asked over its API."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx

from backend.app import create_app
from backend.fleet.fleet import Fleet
from backend.key import authorization, key_in
from backend.lab import Lab
from backend.settings import Settings


@contextlib.asynccontextmanager
async def api(data: Path) -> AsyncIterator[httpx.AsyncClient]:
    lab = await Lab.open(Settings(data, simulated=True))
    fleet = Fleet(lab)
    app = create_app(fleet)
    await fleet.start()
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    headers = authorization(key_in(lab.home.path))
    try:
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8080", headers=headers
        ) as it:
            yield it
    finally:
        await fleet.stop()
        await lab.stop()
        await lab.workers.stop()
