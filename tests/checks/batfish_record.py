"""Records a real server's answers about the small site and damaged copies of it: `python batfish_record.py HOST`.

Each recording is one snapshot; `batfish_helpers` says what is kept of the rows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from batfish_helpers import Recorder, Site, small, write_recording

from fabric.checks.batfish import judge
from fabric.checks.batfish.ask import Server
from fabric.checks.batfish.snapshot import write

Damage = tuple[str, str, str]  # switch, first match in its files, what it becomes

LINES: tuple[Damage, ...] = (
    ("backend-leaf001", r"neighbor 10.64.0.3 remote-as \d+", "neighbor 10.64.0.3 remote-as 65001"),
    ("backend-leaf002", r"route-map RM-FABRIC-IN in", "route-map RM-NOWHERE in"),
    ("backend-spine001", r"update wait-install", "update weight-install"),
    ("backend-spine002", r"ip address 10.0.0.2/32", "ip address 10.0.0.1/32"),
)
WAYS: tuple[Damage, ...] = (
    ("backend-leaf001", r"(description backend-spine002 .*\n)   no shutdown", r"\1   shutdown"),
    ("backend-leaf001", r"^ip routing$", "ip routing\nip route 198.51.100.0/24 10.64.0.1"),
    ("backend-spine001", r"^ip routing$", "ip routing\nip route 198.51.100.0/24 10.64.0.0"),
    ("backend-leaf002", r"   vrf blue\n   ip address", "   vrf red\n   ip address"),
)
SNAPSHOTS: dict[str, tuple[Damage, ...]] = {"clean": (), "lines": LINES, "ways": WAYS}


def damaged(site: Site, damages: tuple[Damage, ...]) -> Site:
    for device, pattern, new in damages:
        site, _ = site.damaged(device, pattern, new)
    return site


def record(host: str) -> None:
    for name, damages in SNAPSHOTS.items():
        with TemporaryDirectory() as folder:
            snapshot = damaged(small(Path(folder)), damages).snapshot()
            write(snapshot, Path(folder) / "snapshot")
            server = Server(host, f"record-{name}")
            server.upload(Path(folder) / "snapshot")
            recorder = Recorder(server)
            judge(snapshot, recorder)
            server.close()
        write_recording(name, recorder.rows)


if __name__ == "__main__":
    record(sys.argv[1])
