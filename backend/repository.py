"""The folder that this program runs from."""

from pathlib import Path

REPOSITORY = Path(__file__).absolute().parent.parent
