"""Signals that end a run: raised as an exception, so that cleanup runs, or deferred until a step is complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

TERMINATING = (
    signal.SIGTERM,
    signal.SIGHUP,
)  # of `kill`, `timeout`, CI systems, terminals; Python handles SIGINT itself

Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def exit_on_signal() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit with 128 + the signal number, as Ctrl-C raises KeyboardInterrupt.

    An ignored signal, for example under nohup, stays ignored.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with _handled(TERMINATING, leave):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """Defers SIGINT, SIGTERM and SIGHUP to the end of the block; several take effect once."""
    caught: list[int] = []
    try:
        with _handled((signal.SIGINT, *TERMINATING), lambda number, frame: caught.append(number)):
            yield
    finally:
        if caught:
            signal.raise_signal(caught[0])


@contextmanager
def _handled(signals: Iterable[signal.Signals], handler: Handler) -> Iterator[None]:
    """Installs a handler; does nothing outside the main thread, because only that thread runs handlers."""
    main = threading.current_thread() is threading.main_thread()
    previous = {number: signal.getsignal(number) for number in signals if main}
    changed = {number: before for number, before in previous.items() if before not in (signal.SIG_IGN, None)}
    try:
        for number in changed:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in changed.items():
            signal.signal(number, before)
