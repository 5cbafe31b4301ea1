"""Signals that end a run: as an exception, so that what was begun is cleaned up, or held back until a step is whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

TERMINATING = (signal.SIGTERM, signal.SIGHUP)  # of `kill`, `timeout`, CI systems and terminals; Python raises SIGINT itself

Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def exit_on_signal() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit with 128 + their number here, as Ctrl-C raises KeyboardInterrupt.

    A signal that is ignored, as under nohup, stays ignored.
    """

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with _handled(TERMINATING, leave):
        yield


@contextmanager
def held_back() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP take effect when the block has ended, once."""
    caught: list[int] = []
    try:
        with _handled((signal.SIGINT, *TERMINATING), lambda number, frame: caught.append(number)):
            yield
    finally:
        if caught:
            signal.raise_signal(caught[0])


@contextmanager
def _handled(signals: Iterable[signal.Signals], handler: Handler) -> Iterator[None]:
    """Installs a handler; outside the main thread, which alone runs handlers, nothing."""
    main = threading.current_thread() is threading.main_thread()
    known = {number: signal.getsignal(number) for number in signals if main}
    changed = {number: before for number, before in known.items() if before not in (signal.SIG_IGN, None)}
    try:
        for number in changed:
            signal.signal(number, handler)
        yield
    finally:
        for number, before in changed.items():
            signal.signal(number, before)
