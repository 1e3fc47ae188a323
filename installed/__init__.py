"""The installed program: the folders of the repository lie beside this file, and import each other as they do there."""

import os
import sys
from pathlib import Path

HERE = str(Path(__file__).resolve().parent)


def main() -> int:
    """The command line. Returns the exit code."""
    sys.path.insert(0, HERE)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (HERE, os.environ.get("PYTHONPATH"))))
    from backend.cli import entry

    return entry(program="cloverlab")
