"""EOS as Batfish takes it."""

from __future__ import annotations

from pathlib import Path

from fabric.model.plan import Vrf
from fabric.nos.batfish import (
    ACL,
    BRIDGE,
    EVPN,
    FORWARD,
    MULTIPATH,
    NATIVE,
    TYPE5,
    UNNUMBERED,
    VRF,
    BatfishView,
    Limit,
    as_it_is,
)
from fabric.nos.eos.statements import LAYOUT

MAX_TARGET_NUMBER = 65_535  # the number behind the AS number of a route target that Batfish reads


def _large(vrf: Vrf) -> bool:
    targets = (vrf.route_target, *vrf.imports) if vrf.vni else ()
    return any(int(target.rpartition(":")[2]) > MAX_TARGET_NUMBER for target in targets)


VIEW = BatfishView(
    reads=as_it_is("ARISTA", LAYOUT),
    comment="!",
    sees=frozenset({VRF, EVPN, TYPE5, ACL, UNNUMBERED, BRIDGE, FORWARD, NATIVE, MULTIPATH}),
    limits=(
        Limit(
            frozenset({TYPE5}),
            lambda view: any(_large(vrf) for vrf in view.vrfs),
            _large,
            f"its EOS grammar takes no route target above {MAX_TARGET_NUMBER}",
        ),
        Limit(
            frozenset({EVPN, TYPE5, FORWARD}),
            lambda view: view.underlay.unnumbered,
            lambda vrf: True,
            "it sends no packet over an EOS interface without an address",
        ),
    ),
    allow=(Path(__file__).with_name("batfish.yaml"),),
)
