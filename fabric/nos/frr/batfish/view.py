"""FRR on Linux as Batfish takes it."""

from pathlib import Path

from fabric.nos.batfish.view import BRIDGE, EVPN, FORWARD, NATIVE, UNNUMBERED, VRF, BatfishView
from fabric.nos.frr.batfish.linux import linux_copy

DAEMONS = Path(__file__).with_name("batfish_daemons.yaml")  # of whatever has a frr.conf

VIEW = BatfishView(
    reads=lambda name, files: [linux_copy(name, files)],
    sees=frozenset({VRF, EVPN, UNNUMBERED, BRIDGE, FORWARD, NATIVE}),
    vrf="vrf-{}",
    allow=(DAEMONS, Path(__file__).with_name("batfish.yaml")),
    unread=("files of Linux besides interfaces and frr.conf", "it knows no sysctl, nftables or sshd"),
)
