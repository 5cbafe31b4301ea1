"""The running configs of a lab, as `fabric drift` reads them: a folder per switch with the files of its network OS.

`frr.conf` is what the daemons have. The other files are those that the lab was built from: its kernel has no config.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabric.base.diagnostics import MissingError
from fabric.lab.frr_defects import OWN_HOPS, needs_own_hops
from fabric.lab.live import Live
from fabric.lab.machine import daemons
from fabric.lab.machine.run import at_once, run

DAEMONS_FILE = "frr.conf"
NETNS = re.compile(r" +netns \S+\n")  # of a VRF that is a namespace, where the kernel has no VRF devices


def running(live: Live) -> dict[str, str]:
    """Path below the folder → text, of every switch in the lab. Raises MissingError where a daemon has ended."""
    names = list(live.lab.views)
    found: dict[str, str] = {}
    for name, texts in zip(names, at_once(lambda name: dict(_of(live, name)), names), strict=True):
        found |= {f"{name}/{file}": text for file, text in texts.items()}
    return dict(sorted(found.items()))


def _of(live: Live, name: str) -> Iterator[tuple[str, str]]:
    for path, text in live.lab.files[name].items():
        file = path.split("/", 2)[2]
        yield file, _of_daemons(live, name) if file == DAEMONS_FILE and text.strip() else text


def _of_daemons(live: Live, name: str) -> str:
    """The running config without what the lab itself entered."""
    home = live.names.home(name)
    alive = daemons.alive(home)
    if ended := [daemon for daemon in daemons.started(home) if daemon not in alive]:
        raise MissingError(f"{name}: {ended[0]} is not running: run `fabric lab up {live.lab.plan.settings.home.path}`")
    text = run(
        *("nsenter", f"--uts=/proc/{alive[daemons.ROUTING[0]]}/ns/uts"),  # vtysh prints the host name that it runs under
        *("vtysh", "--vty_socket", str(home), "--config_dir", str(home), "-c", "show running-config"),
    ).stdout
    if needs_own_hops(live.lab.nodes[name].frr_conf):
        text = text.replace(f"{OWN_HOPS}\n", "")
    return NETNS.sub("", text)
