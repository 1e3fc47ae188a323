"""What ends a command that has started servers of its own ends them as well."""

from __future__ import annotations

import signal

ENDING = (signal.SIGTERM, signal.SIGHUP)


def heed() -> None:
    """From now on these signals interrupt like Ctrl-C; one that is ignored (nohup) stays so."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
