"""`./cloverlab test`: every runner in turn, with its own output and summary line; all of them run even when one fails."""

from tests.runner.run import main

__all__ = ["main"]
