"""Running daemons against the plan: as loaded they are in sync, and every change that is made by hand is reported, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.audit.checks import statement_differences
from fabric.nos.statements.compare import Difference
from tests.audit.checks.shapes import SHAPES, Switch, samples, switches
from tests.system import live_commands
from tests.system.frr_daemons import changed, load, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())

BGP, RED = "router bgp 4200000002", "router bgp 4200000002 vrf vrf-red"
UNICAST, EVPN = "address-family ipv4 unicast", "address-family l2vpn evpn"
# What an operator enters → what is reported of it.
CHANGES = {
    f"{BGP}\n neighbor 10.64.0.5 shutdown": ["extra: neighbor 10.64.0.5 shutdown"],
    f"{BGP}\n no neighbor 10.64.0.7 peer-group FABRIC\n no neighbor 10.64.0.7": [
        "missing: neighbor 10.64.0.7 description frontend-spine002 swp2",
        "missing: neighbor 10.64.0.7 peer-group FABRIC",
        "missing: neighbor 10.64.0.7 remote-as 4200000000",
    ],
    f"{BGP}\n neighbor FABRIC timers 10 30": ["changed: neighbor FABRIC timers 3 9"],
    f"{BGP}\n no neighbor FABRIC bfd": ["missing: neighbor FABRIC bfd", "missing: neighbor FABRIC bfd profile FABRIC"],
    f"{BGP}\n neighbor OVERLAY ebgp-multihop 1": ["missing: neighbor OVERLAY ebgp-multihop 3"],
    f"{BGP}\n no bgp bestpath as-path multipath-relax": ["missing: bgp bestpath as-path multipath-relax"],
    f"{BGP}\n bgp router-id 10.0.0.99": ["changed: bgp router-id 10.0.0.4"],
    f"{BGP}\n {UNICAST}\n  maximum-paths 1": ["changed: maximum-paths 64"],
    f"{BGP}\n {UNICAST}\n  redistribute static": ["extra: redistribute static"],
    f"{BGP}\n {UNICAST}\n  neighbor FABRIC prefix-list PL-OWN in": ["changed: neighbor FABRIC prefix-list PL-FABRIC in"],
    f"{BGP}\n {EVPN}\n  no advertise-all-vni": ["missing: advertise-all-vni"],
    f"{RED}\n neighbor 10.64.0.13 remote-as 65011": ["changed: neighbor 10.64.0.13 remote-as 65010"],
    f"{RED}\n {UNICAST}\n  no neighbor 10.64.0.13 maximum-prefix": [
        "missing: neighbor 10.64.0.13 maximum-prefix 12000 80 restart 5"
    ],
    f"{RED}\n {EVPN}\n  no advertise ipv4 unicast": ["missing: advertise ipv4 unicast"],
    f"{RED}\n {EVPN}\n  route-target import 65000:1": ["extra: route-target import 65000:1"],
    "vrf vrf-blue\n no vni 50002": ["missing: vrf vrf-blue"],  # the section and the VNI in it
    "ip prefix-list PL-FABRIC seq 5 permit any": ["extra: ip prefix-list PL-FABRIC seq 5 permit any"],
    "no ip prefix-list PL-OWN seq 20": ["missing: ip prefix-list PL-OWN seq 20 permit 10.2.0.2/32"],
    "route-map RM-CONNECTED permit 10\n no match ip address prefix-list PL-CONNECTED": [
        "missing: match ip address prefix-list PL-CONNECTED"
    ],
    "no ip protocol bgp route-map RM-SOURCE": ["missing: ip protocol bgp route-map RM-SOURCE"],
    "route-map RM-SOURCE permit 10\n set src 10.0.0.99": ["changed: set src 10.0.0.4"],
    "bfd\n profile FABRIC\n  receive-interval 900": ["changed: receive-interval 300"],
}


def frr_conf(switch: Switch) -> str:
    return next(text for file, text in switch.files.items() if file.endswith("/frr.conf"))


def running_differences(nos: str, planned: str, running: str) -> list[Difference]:
    return statement_differences(nos, {"frr.conf": planned}, {"frr.conf": running})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("nos", ["frr", "sonic"])
def test_a_loaded_config_is_in_sync(nos: str, shape: str, tmp_path: Path) -> None:
    for switch in samples(nos, shape):
        path = tmp_path / "frr.conf"
        path.write_text(frr_conf(switch), encoding="utf-8")
        assert running_differences(nos, frr_conf(switch), load(path, tmp_path).running) == []


def test_changes_by_hand_are_reported_and_nothing_else(tmp_path: Path) -> None:
    planned = frr_conf(next(switch for switch in switches("frr", "evpn") if "neighbor 10.64.0.13 " in frr_conf(switch)))
    path = tmp_path / "frr.conf"
    path.write_text(planned, encoding="utf-8")
    reported: list[str] = []
    for (commands, expected), running in zip(CHANGES.items(), changed(path, tmp_path, list(CHANGES)), strict=True):
        reported += expected  # the changes add up
        assert sorted(map(_text, running_differences("frr", planned, running))) == sorted(reported), commands


# A sample of `python -m tests.system.live_commands`, which has the figures of docs/drift.md.
SAMPLE = ("frr evpn frontend-leaf001", "frr unnumbered backend-leaf001", "sonic evpn frontend-spine001")


@pytest.mark.slow
@pytest.mark.parametrize("title", SAMPLE)
def test_commands_undo_random_changes(title: str) -> None:
    nos, _, name, planned = next(design for design in live_commands.designs() if design[1] == title)
    outcomes = live_commands.run(nos, name, planned, count=8, seed=1)
    assert len(outcomes) == 8
    assert [outcome for outcome in outcomes if outcome.wrong] == []


def test_commands_make_one_design_of_another() -> None:
    sides = [design for design in live_commands.designs() if design[1] in ("frr vrf-lite backend-leaf001", SAMPLE[1])]
    (nos, _, name, old), (_, _, _, new) = sides
    assert live_commands.run_pair(nos, name, old, new) == []


def _text(difference: Difference) -> str:
    return f"{difference.kind}: {difference.path[-1]}"
