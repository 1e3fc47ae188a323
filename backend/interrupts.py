"""What ends a command that has started servers of its own ends them as well."""

from __future__ import annotations

import signal

ENDING = (signal.SIGTERM, signal.SIGHUP)


def heed() -> None:
    """From now on these signals do what Ctrl-C does; one that is ignored (nohup) stays so.

    Shells have a script's background ignore Ctrl-C: there it is heeded again.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, frame: signal.raise_signal(signal.SIGINT))
