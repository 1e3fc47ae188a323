"""Where clusters and the list of control planes are kept on this machine."""

from __future__ import annotations

import os
from pathlib import Path


def default_data() -> Path:
    """The directory of a cluster without a name, and of all that have one. Where $XDG_DATA_HOME is unset it is `~/.local/share/cloverlab`."""
    given = os.environ.get("XDG_DATA_HOME", "")
    return (Path(given) if given else Path.home() / ".local" / "share") / "cloverlab"


def running_file(port: int) -> Path:
    """The entry of the control plane at a port of this machine, while it runs."""
    return default_data() / "running" / f"{port}.json"


def reproduced() -> Path:
    """The last outcome of each experiment of the papers, as the page shows it."""
    return default_data() / "reproduced"


def bug_scores_file() -> Path:
    """The last search for each known bug by `bench explore bugs`, as the page shows it."""
    return default_data() / "measured" / "bugs.json"


def measured_peers() -> Path:
    """The last run of `bench peers`, with its plots."""
    return default_data() / "measured" / "peers"
