"""Cumulus Linux as Batfish takes it."""

from pathlib import Path

from fabric.nos.batfish.view import BRIDGE, EVPN, FORWARD, NATIVE, UNNUMBERED, VRF, BatfishView
from fabric.nos.cumulus.batfish.flat import nvue_copy

VIEW = BatfishView(
    reads=lambda name, files: [nvue_copy(name, files)],
    sees=frozenset({VRF, EVPN, UNNUMBERED, BRIDGE, FORWARD, NATIVE}),
    allow=(Path(__file__).with_name("batfish.yaml"),),
    unread=("NVUE files as they are", "it cannot read NVUE, and was given what NVUE makes of them"),
)
