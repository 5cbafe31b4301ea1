"""A large config: time grows with its lines, not with pairs of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from fabric import pipeline
from fabric.audit.checks.run import Scope
from tests.cost import growth


def router(neighbors: int) -> str:
    """frr.conf of a router with that many sessions, each over a link of its own and with lists of its own."""
    lines = ["frr version 8.4.4", "frr defaults traditional", "hostname core"]
    below = [" address-family ipv4 unicast"]
    lists, sessions = [], ["router bgp 65001", " bgp router-id 10.255.0.1"]
    for at in range(neighbors):
        own, peer = (f"10.{at // 32_768}.{at // 128 % 256}.{2 * at % 256 + end}" for end in (0, 1))
        lines += [f"interface swp{at}", f" ip address {own}/31", f" description to peer {at}", "exit"]
        sessions += [f" neighbor {peer} remote-as {64_512 + at % 1_000}", f" neighbor {peer} description peer {at}"]
        below += [
            f"  neighbor {peer} activate",
            f"  neighbor {peer} prefix-list IN{at} in",
            f"  neighbor {peer} route-map OUT out",
        ]
        lists += [f"ip prefix-list IN{at} seq 5 permit 10.1.{at % 256}.0/24"]
    end = ["route-map OUT permit 10", "exit"]
    return "\n".join([*lines, *sessions, *below, " exit-address-family", "exit", *lists, *end]) + "\n"


def test_sessions_of_one_router(tmp_path: Path) -> None:
    runs = []
    for neighbors in (80, 560):
        folder = tmp_path / str(neighbors)
        folder.mkdir()
        (folder / "frr.conf").write_text(router(neighbors))
        runs.append(partial(pipeline.check, Scope(files=(), configs=folder, jobs=1)))
    assert growth(*runs) < 20  # 7 for time that grows with the lines, 49 with pairs
