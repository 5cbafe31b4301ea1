"""Real NetBox and Nautobot servers for tests and by hand.

python -m tests.inventory.live install netbox|nautobot    # once: environment, database, migrations
python -m tests.inventory.live serve netbox|nautobot      # a server until Ctrl-C; prints what to export
python -m tests.inventory.live push netbox|nautobot INTENT...   # a fresh server, each intent pushed twice: the counts
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

from fabric import pipeline
from fabric.inventory.push import SYSTEMS, Push, PushRequest, lines
from tests.inventory.servers import SERVERS, TOKEN, install, running


def main(words: list[str]) -> None:
    """Does what the arguments say."""
    assert set(words[1:2]) & SERVERS.keys(), __doc__
    action, name, *files = words
    if action == "install":
        install(name)
    elif action == "serve":
        with running(name) as url:
            print(f"export {SYSTEMS[name].url}={url} {SYSTEMS[name].token}={TOKEN}", flush=True)
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            try:
                signal.pause()
            except KeyboardInterrupt:
                return
    else:
        with running(name) as url:
            for file in files:
                _push(name, url, Path(file))


def _push(name: str, url: str, file: Path) -> None:
    plan = pipeline.plan(pipeline.load(file))
    for prune in (False, True):
        begun = time.monotonic()
        done = Push(plan, SYSTEMS[name]).run(url, TOKEN, PushRequest(prune=prune))
        print(f"{file}{' --prune' if prune else ''}: {time.monotonic() - begun:.0f} s")
        print("\n".join(lines(done)[-1:]))


if __name__ == "__main__":
    main(sys.argv[1:])
