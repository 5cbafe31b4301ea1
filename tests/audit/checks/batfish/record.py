"""Records a real server's answers: `python -m tests.audit.checks.batfish.record HOST [answers] [known]`.

`answers` are those about the small site and damaged copies of it, each recording one snapshot; `helpers` says what is
kept of the rows. `known` are the lines of every example, once the server warned of none that is not listed (`known`).
Both where neither is named.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric.audit.checks.batfish import judge
from fabric.audit.checks.batfish.checks import Analysis, file_lines
from fabric.audit.checks.batfish.client import Server
from fabric.audit.checks.batfish.configs import ConfigsAnalysis, judge_configs
from fabric.audit.checks.batfish.expect import Expected
from fabric.audit.checks.batfish.parsing import Warnings
from fabric.audit.checks.batfish.snapshot import Snapshot, Texts, subset, write
from tests.audit.checks.batfish.helpers import Recorded, Recorder, Site, small, write_recording
from tests.audit.checks.batfish.known import intents, lines_of, names_of, switches, write_known

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
ORIGIN: tuple[Damage, ...] = (  # a leaf that announces nothing of a tenant
    ("backend-leaf002", r"(vrf red\n(?:      .*\n)*?)      redistribute connected.*\n", r"\1"),
)
SNAPSHOTS: dict[str, tuple[Damage, ...]] = {"clean": (), "lines": LINES, "ways": WAYS, "origin": ORIGIN}
FILTER: Damage = ("backend-leaf001", r"permit ip any 10.128.0.0/29", "deny ip any 10.128.0.0/29")


def damaged(site: Site, damages: tuple[Damage, ...]) -> Site:
    for device, pattern, new in damages:
        site, _ = site.damaged(device, pattern, new)
    return site


def record_answers(host: str) -> None:
    sites = {name: ("evpn", damages) for name, damages in SNAPSHOTS.items()}
    for name, (design, damages) in {**sites, "filter": ("acl", (FILTER,))}.items():
        with TemporaryDirectory() as folder:
            site = damaged(small(Path(folder), design=design), damages)
            snapshot = site.snapshot()
            with uploaded(host, snapshot) as server:
                recorder = Recorder(server)
                judge(snapshot, recorder)
            configs = site.configs()
            with uploaded(host, configs) as server:
                recorder.answers = server
                judge_configs(ConfigsAnalysis(configs, recorder))
        write_recording(name, recorder.rows)


def record_known(host: str) -> None:
    """Every line of the switches that the test looks at; nothing where the server warns of one that is not listed."""
    shown: dict[str, set[str]] = defaultdict(set)
    warned: dict[str, set[str]] = defaultdict(set)
    with TemporaryDirectory() as folder:
        for name, path in intents(Path(folder)):
            plan, copies = switches(path, Path(folder))
            names, found = names_of(plan), list(copies)
            snapshot = Snapshot({one.device.lower(): one for one in found}, plan=plan, subset=subset(plan), views={})
            with uploaded(host, snapshot) as server:
                recorder = Recorder(server)
                issues = recorder.init_issues()
            findings = Warnings().run(Analysis(snapshot, Recorded(recorder.rows), Expected(snapshot)))
            if findings:
                sys.exit("\n".join(f"{name}: {finding}" for finding in findings))
            places = {place for row in issues for place in file_lines(row["Source_Lines"])}
            for one in found:
                for file, number, _, _, line in lines_of(one, names):
                    shown[one.nos].add(line)
                    if (file, number) in places:
                        warned[one.nos].add(line)
            print(f"{name}: {len(found)} switches, {len(issues)} warnings", flush=True)
    write_known(shown, warned)


@contextmanager
def uploaded(host: str, snapshot: Texts) -> Iterator[Server]:
    """A server that has a snapshot."""
    server = Server(host, f"record-{os.getpid()}")
    try:
        with TemporaryDirectory() as folder:
            write(snapshot, Path(folder))
            server.upload(Path(folder))
        yield server
    finally:
        server.close()


if __name__ == "__main__":
    what = sys.argv[2:] or ["answers", "known"]
    if "answers" in what:
        record_answers(sys.argv[1])
    if "known" in what:
        record_known(sys.argv[1])
