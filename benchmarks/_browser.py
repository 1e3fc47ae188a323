"""Chromium for what looks at the page: the tests of the page and the benchmark of it."""

from __future__ import annotations

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]


def chromium() -> str | None:
    """The path of a browser on this machine; None where there is none."""
    return os.environ.get("CLOVERLAB_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
