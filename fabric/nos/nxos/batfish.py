"""NX-OS as Batfish takes it."""

from __future__ import annotations

from pathlib import Path

from fabric.model.plan import Vrf
from fabric.nos.batfish import ACL, BRIDGE, EVPN, FORWARD, MULTIPATH, NATIVE, TYPE5, VRF, BatfishView, Limit, as_it_is
from fabric.nos.nxos.statements import LAYOUT


def _several(vrf: Vrf) -> bool:
    return bool(vrf.vni) and len({vrf.route_target, *vrf.imports}) > 1


VIEW = BatfishView(
    reads=as_it_is("CISCO_NX", LAYOUT),
    comment="!",
    sees=frozenset({VRF, EVPN, TYPE5, ACL, BRIDGE, FORWARD, NATIVE, MULTIPATH}),
    limits=(
        Limit(
            frozenset({TYPE5}),
            lambda view: any(_several(vrf) for vrf in view.vrfs),
            _several,
            "of several imported route targets of an NX-OS table it keeps the last",
        ),
    ),
    allow=(Path(__file__).with_name("batfish.yaml"),),
)
