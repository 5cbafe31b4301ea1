"""Faults in the state of a lab of real FRR daemons, one at a time: which switch `fabric verify` names, and why.

Each fault is made in a running lab, the state is collected and judged, the fault is taken back, and the lab must be without
findings again. Needs root; about eight minutes.

    python -m tests.audit.verify.lab_faults [NAME]…
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from fabric import pipeline
from fabric.audit.checks import Finding
from fabric.lab.blueprint import Wire
from fabric.lab.collect import collect, save, with_neighbors
from fabric.lab.live import Live
from fabric.lab.machine.host import require
from fabric.lab.machine.lldp import Lldp
from fabric.lab.machine.namespaces import run
from tests import ROOT

INTENT = ROOT / "intent" / "evpn-lab.yaml"
LEAF1, LEAF2, LEAF3, LEAF4 = (f"backend-leaf00{number}" for number in (1, 2, 3, 4))
SPINE1, SPINE2 = "backend-spine001", "backend-spine002"
PATIENCE_S = 40.0

Step = Callable[[Live], None]


@dataclass(frozen=True)
class Fault:
    """One fault: what makes it, what takes it back, and the finding it must lead to.

    Attributes:
        device: switch that must be named.
        code: check that must report it.
        says: words of its message.
        most: findings that it may cause in all.
        lldp: it shows in LLDP.
        last: the lab is not repaired afterwards.
    """

    name: str
    make: Step
    undo: Step
    device: str
    code: str
    says: tuple[str, ...]
    most: int = 1
    lldp: bool = False
    last: bool = False


def config(node: str, *lines: str, daemon: str = "bgpd") -> Step:
    return lambda live: live.configure(node, daemon, *lines)


def link(node: str, vrf: str, *words: str) -> Step:
    def step(live: Live) -> None:
        run("ip", "-n", live.space(node, vrf), *words)

    return step


def reset(node: str, peer: str) -> Step:
    return lambda live: live.order(node, "bgpd", f"clear bgp {peer}")


def every(*steps: Step) -> Step:
    def step(live: Live) -> None:
        for one in steps:
            one(live)

    return step


def bgp(number: int) -> str:
    return f"router bgp {4200000000 + number}"


V4, EVPN = "address-family ipv4 unicast", "address-family l2vpn evpn"


def swap(live: Live) -> None:
    _plug(live, crossed=True)


def swap_back(live: Live) -> None:
    _plug(live, crossed=False)


def _plug(live: Live, *, crossed: bool) -> None:
    """The two uplinks of a leaf."""
    own = [
        wire if wire.a.node == LEAF1 else Wire(wire.b, wire.a)
        for wire in live.lab.cables
        if LEAF1 in (wire.a.node, wire.b.node)
    ]
    one, other = (wire for wire in own if wire.b.node in (SPINE1, SPINE2))
    for wire in (one, other):
        run("ip", "-n", live.space(LEAF1), "link", "delete", wire.a.interface)
    live.wiring.lay([Wire(one.a, other.b), Wire(other.a, one.b)] if crossed else [one, other])


def blackhole(node: str, interface: str, on: bool) -> Step:
    hook = f'type filter hook ingress device "{interface}" priority 0; policy drop;'
    text = f"table netdev verify {{\nchain dropped {{\n{hook}\n}}\n}}\n" if on else "delete table netdev verify\n"
    return lambda live: (run("ip", "netns", "exec", live.space(node), "nft", "-f", "-", text=text), None)[1]


def kill(node: str, daemon: str) -> Step:
    def step(live: Live) -> None:
        home = live.names.home(node)
        run("kill", "-9", (home / f"{daemon}.pid").read_text().strip())

    return step


def nothing(live: Live) -> None:
    return


@contextmanager
def mute(node: str) -> Iterator[None]:
    """No lldpd on one switch."""
    start = Lldp._start

    def other(self: Lldp, space: str) -> None:
        if self.homes[space][0] != node:
            start(self, space)

    with patch.object(Lldp, "_start", other):
        yield


FAULTS = (
    Fault(
        "session shut",
        config(LEAF1, bgp(1), "neighbor 10.64.0.1 shutdown"),
        config(LEAF1, bgp(1), "no neighbor 10.64.0.1 shutdown"),
        LEAF1, "FAB358", ("10.64.0.1", "shut"),
    ),
    Fault(
        "neighbor removed",
        config(LEAF2, bgp(2), "no neighbor 10.64.0.5"),
        config(LEAF2, bgp(2), "neighbor 10.64.0.5 remote-as 4200000000", "neighbor 10.64.0.5 peer-group FABRIC"),
        LEAF2, "FAB358", ("10.64.0.5", "no such neighbor"),
    ),
    Fault(
        "wrong remote AS",
        config(LEAF4, bgp(4), "neighbor 10.64.0.13 remote-as 4200000009"),
        config(LEAF4, bgp(4), "neighbor 10.64.0.13 remote-as 4200000000"),
        LEAF4, "FAB359", ("remote AS", "expected 4200000000, got 4200000009"),
    ),
    Fault(
        "prefix limit hit",
        config(LEAF1, bgp(1), V4, "neighbor FABRIC maximum-prefix 3 80"),
        every(
            config(LEAF1, bgp(1), V4, "neighbor FABRIC maximum-prefix 12000 80 restart 5"),
            reset(LEAF1, "10.64.0.1"), reset(LEAF1, "10.64.0.3"),
        ),
        LEAF1, "FAB358", ("limit",), most=2,
    ),
    Fault(
        "EVPN family off at one end",
        config(LEAF3, bgp(3), EVPN, "no neighbor OVERLAY activate"),
        config(LEAF3, bgp(3), EVPN, "neighbor OVERLAY activate"),
        LEAF3, "FAB360", ("EVPN session", "expected evpn active"), most=2,
    ),
    Fault(
        "session that is not planned",
        config(SPINE1, bgp(0), "neighbor 192.0.2.9 remote-as 65000"),
        config(SPINE1, bgp(0), "no neighbor 192.0.2.9"),
        SPINE1, "FAB361", ("192.0.2.9",),
    ),
    Fault(
        "port shut",
        link(SPINE1, "", "link", "set", "swp2", "down"), link(SPINE1, "", "link", "set", "swp2", "up"),
        SPINE1, "FAB352", ("swp2", "shut"), lldp=True,
    ),
    Fault(
        "server port shut",
        link(LEAF2, "vrf-red", "link", "set", "swp1", "down"), link(LEAF2, "vrf-red", "link", "set", "swp1", "up"),
        LEAF2, "FAB353", ("swp1", "gpu-0003"), lldp=True,
    ),
    Fault("uplinks swapped", swap, swap_back, LEAF1, "FAB357", ("swapped", LEAF1), lldp=True),
    Fault("LLDP off", nothing, nothing, LEAF3, "FAB357", ("silent-device", LEAF3), lldp=True),
    Fault(
        "MTU black hole",
        link(SPINE2, "", "link", "set", "swp3", "mtu", "1400"), link(SPINE2, "", "link", "set", "swp3", "mtu", "9216"),
        SPINE2, "FAB355", ("swp3", "expected 9216, got 1400"),
    ),
    Fault(
        "cable that drops everything",
        blackhole(LEAF4, "swp16", on=True), blackhole(LEAF4, "swp16", on=False),
        LEAF4, "FAB358", ("10.64.0.15", "not established", "BFD"),
    ),
    Fault(
        "one path used",
        config(LEAF2, bgp(2), V4, "maximum-paths 1"), config(LEAF2, bgp(2), V4, "maximum-paths 64"),
        LEAF2, "FAB365", ("expected 2 paths, got 1",),
    ),
    Fault(
        "route filtered by a leaf",
        every(config(LEAF4, "ip prefix-list PL-FABRIC seq 1 deny 10.2.0.1/32"), reset(LEAF4, "* soft in")),
        every(config(LEAF4, "no ip prefix-list PL-FABRIC seq 1"), reset(LEAF4, "* soft in")),
        LEAF4, "FAB364", ("10.2.0.1/32", LEAF1), most=2,
    ),
    Fault(
        "route not advertised by a spine",
        every(
            config(SPINE2, "ip prefix-list PL-OUT seq 1 deny 10.0.0.5/32", "ip prefix-list PL-OUT seq 5 permit any"),
            config(SPINE2, bgp(0), V4, "neighbor FABRIC prefix-list PL-OUT out"), reset(SPINE2, "* soft out"),
        ),
        every(
            config(SPINE2, bgp(0), V4, "neighbor FABRIC prefix-list PL-FABRIC out"),
            config(SPINE2, "no ip prefix-list PL-OUT"),
        ),
        SPINE2, "FAB364", ("10.0.0.5/32", "no neighbor has it from"),
    ),
    Fault(
        "loopback not redistributed",
        config(LEAF3, bgp(3), V4, "no redistribute connected"),
        config(LEAF3, bgp(3), V4, "redistribute connected route-map RM-CONNECTED"),
        LEAF3, "FAB364", ("its own", "no neighbor has it from"),
    ),
    Fault(
        "tunnel address removed",
        link(LEAF2, "", "address", "del", "10.2.0.2/32", "dev", "lo"),
        link(LEAF2, "", "address", "add", "10.2.0.2/32", "dev", "lo"),
        LEAF2, "FAB363", ("10.2.0.2/32",),
    ),
    Fault(
        "type-5 routes not advertised",
        config(LEAF3, f"{bgp(3)} vrf vrf-blue", EVPN, "no advertise ipv4 unicast"),
        config(LEAF3, f"{bgp(3)} vrf vrf-blue", EVPN, "advertise ipv4 unicast"),
        LEAF3, "FAB370", ("vrf-blue", "at every other leaf"),
    ),
    Fault(
        "tenant routes not redistributed",
        config(LEAF1, f"{bgp(1)} vrf vrf-blue", V4, "no redistribute connected"),
        config(LEAF1, f"{bgp(1)} vrf vrf-blue", V4, "redistribute connected route-map RM-blue-CONNECTED"),
        LEAF1, "FAB370", ("vrf-blue", "at every other leaf"),
    ),
    Fault(
        "wrong VNI of a tenant",
        every(
            config(LEAF4, "vrf vrf-red", "no vni 50001", daemon="zebra"),
            config(LEAF4, "vrf vrf-red", "vni 50009", daemon="zebra")
        ),
        every(
            config(LEAF4, "vrf vrf-red", "no vni 50009", daemon="zebra"),
            config(LEAF4, "vrf vrf-red", "vni 50001", daemon="zebra")
        ),
        LEAF4, "FAB367", ("50001",),
    ),
    Fault(
        "wrong route target of a network",
        config(LEAF2, bgp(2), EVPN, "vni 10001", "no route-target import 65000:10001", "route-target import 65000:19999"),
        config(LEAF2, bgp(2), EVPN, "vni 10001", "no route-target import 65000:19999", "route-target import 65000:10001"),
        LEAF2, "FAB368", ("10001", "imported", "65000:19999"),
    ),
    Fault(
        "wrong route target of a tenant",
        config(LEAF1, f"{bgp(1)} vrf vrf-red", EVPN, "no route-target export 65000:50001", "route-target export 65000:59999"),
        config(LEAF1, f"{bgp(1)} vrf vrf-red", EVPN, "no route-target export 65000:59999", "route-target export 65000:50001"),
        LEAF1, "FAB368", ("50001", "exported", "65000:59999"),
    ),
    Fault(
        "gateway removed",
        link(LEAF3, "vrf-red", "link", "set", "vlan100", "down"), link(LEAF3, "vrf-red", "link", "set", "vlan100", "up"),
        LEAF3, "FAB370", ("10.20.0.0/24", "vrf-red"), most=2,
    ),
    Fault("daemon killed", kill(LEAF2, "bgpd"), nothing, LEAF2, "FAB350", ("bgpd is not running",), last=True),
)  # fmt: skip


def judged(live: Live, fault: Fault | None, *, lldp: bool) -> list[Finding]:
    """The findings on the state of a lab, without notes."""
    with TemporaryDirectory() as folder:
        texts = with_neighbors(live) if lldp else collect(live)
        save(texts, Path(folder))
        state = pipeline.verify_state(live.lab.plan, Path(folder))
    return [finding for finding in state.findings if finding.severity != "note"]


def steady(live: Live, fault: Fault | None, *, empty: bool) -> list[Finding]:
    """The findings as soon as they are the same three times; waits for some, or for none."""
    deadline, before, same = time.monotonic() + PATIENCE_S, [], 0
    while True:
        found = [str(one).replace(one.file, "") for one in judged(live, fault, lldp=False)]
        same = same + 1 if found == before and bool(found) != empty else 0
        before = found
        if same == 3 or time.monotonic() > deadline:
            return judged(live, fault, lldp=bool(fault and fault.lldp))
        time.sleep(1)


def tried(live: Live, fault: Fault) -> tuple[bool, list[Finding]]:
    """(named as it must be, findings) of one fault."""
    fault.make(live)
    if fault.name == "LLDP off":
        with mute(fault.device):
            found = judged(live, fault, lldp=True)
    else:
        if fault.name == "uplinks swapped":
            time.sleep(12)
        found = steady(live, fault, empty=False)
    hits = [
        one
        for one in found
        if one.device == fault.device and one.id == fault.code and all(word in one.message for word in fault.says)
    ]
    return bool(hits) and len(found) <= fault.most, found


def main(names: list[str]) -> int:
    """Prints a row for each fault; how many were not named."""
    chosen = [fault for fault in FAULTS if not names or any(name in fault.name for name in names)]
    lab = pipeline.lab(pipeline.load(INTENT))
    lab.say = lambda text: None
    lab.up()
    missed = 0
    try:
        live = Live(lab.blueprint, require(overlay=True))
        healthy = steady(live, None, empty=True)
        print(f"healthy: {len(healthy)} findings", *healthy, sep="\n  ", flush=True)
        for fault in chosen:
            right, found = tried(live, fault)
            missed += not right
            print(f"{'named ' if right else 'MISSED'} {fault.name}: {len(found)} findings", flush=True)
            for one in found:
                print(f"    {one.id} {one.device}: {one.message}", flush=True)
            if not fault.last:
                fault.undo(live)
                if left := steady(live, None, empty=True):
                    print("    not healthy again:", *left, sep="\n      ", flush=True)
    finally:
        lab.down()
    print(f"{len(chosen) - missed} of {len(chosen)} faults named")
    return missed


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
