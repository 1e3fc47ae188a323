"""Signals that end a command also end the servers that it started."""

from __future__ import annotations

import signal

ENDING = (signal.SIGTERM, signal.SIGHUP)


def watch_signals() -> None:
    """Makes these signals act like Ctrl-C; an ignored signal (nohup) stays ignored.

    Shells let a script's background jobs ignore Ctrl-C; it takes effect again there.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, frame: signal.raise_signal(signal.SIGINT))
