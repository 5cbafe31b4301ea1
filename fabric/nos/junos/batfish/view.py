"""Junos as Batfish takes it."""

from pathlib import Path

from fabric.nos.batfish.view import ACL, FORWARD, MULTIPATH, VRF, BatfishView, first
from fabric.nos.junos.batfish.copy import junos_copy

VIEW = BatfishView(
    reads=lambda name, files: [junos_copy(name, path, text) for path, text in first(files)],
    sees=frozenset({VRF, ACL, FORWARD, MULTIPATH}),
    vrf="VRF-{}",
    loopback_is_vtep=True,
    allow=(Path(__file__).with_name("batfish.yaml"),),
    unread=("EVPN sessions of Junos", "it takes them for sessions of IPv4 as well, so they were left out"),
)
