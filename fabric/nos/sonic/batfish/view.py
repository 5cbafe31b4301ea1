"""SONiC as Batfish takes it."""

from pathlib import Path

from fabric.nos.batfish.view import FORWARD, NATIVE, UNNUMBERED, BatfishView
from fabric.nos.frr.batfish.view import DAEMONS
from fabric.nos.sonic.batfish.copy import sonic_copies

VIEW = BatfishView(
    reads=sonic_copies,
    sees=frozenset({UNNUMBERED, FORWARD, NATIVE}),
    allow=(DAEMONS, Path(__file__).with_name("batfish.yaml")),
    unread=("VRFs, VXLAN, EVPN and bonds of SONiC", "it knows SONiC's default routing table alone"),
)
