"""What a lab is given time for before it is judged, and after its EVPN sessions were restarted."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fabric.lab import run_tests
from fabric.lab.expected import OVERLAY, sessions
from fabric.lab.live import Live
from fabric.lab.proofs import forwarding, overlay, sessions as sessions_proof
from tests.lab.sites import EVPN, drawn

LEAF1, LEAF2, SPINE1, SPINE2 = "backend-leaf001", "backend-leaf002", "backend-spine001", "backend-spine002"


@pytest.mark.parametrize(
    ("selected", "waited"),
    [
        ({"reach"}, ["sessions", "forwarding", "overlay"]),
        ({"sessions", "reach"}, []),
        ({"overlay", "mtu"}, ["sessions", "forwarding"]),
        ({"sessions", "overlay"}, ["forwarding"]),  # between leaves without routes to each other EVPN has no faults
        ({"sessions", "forwarding", "overlay", "reach"}, []),
        ({"sessions"}, []),
        ({"link-down"}, []),
    ],
)
def test_what_is_below_a_proof_has_its_time(selected: set[str], waited: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    for module, name, id in (
        (sessions_proof, "wait", "sessions"),
        (forwarding, "wait", "forwarding"),
        (overlay, "settled", "overlay"),
    ):
        monkeypatch.setattr(module, name, lambda *_, id=id: done.append(id))
    run_tests.settle(cast(Live, SimpleNamespace(lab=drawn(EVPN))), frozenset(selected))
    assert done == waited


def test_sessions_that_were_restarted_are_back_before_anything_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that were down before, here with a spine that is dead, are not waited for."""
    lab = drawn(EVPN)
    peers = {(end.node, end.peer): end.peer_node for end in sessions(lab) if end.kind == OVERLAY}
    restarted: list[str] = []
    asked: list[bool] = []  # whether all that can be established is, by question

    def ask_all(nodes: Iterable[str], *_: str) -> dict[str, Any]:
        up = not restarted or len(asked) > 3
        asked.append(up)
        states = {key: "Established" if up and far != SPINE2 else "Active" for key, far in peers.items()}
        of = {name: {peer: {"state": state} for (at, peer), state in states.items() if at == name} for name in nodes}
        return {name: {"default": {"l2VpnEvpn": {"peers": peers_of}}} for name, peers_of in of.items()}

    monkeypatch.setattr(sessions_proof, "POLL_S", 0.0)
    monkeypatch.setattr(sessions_proof, "STILL_S", 5.0)
    live = SimpleNamespace(lab=lab, ask_all=ask_all, order=lambda node, *_: restarted.append(node))
    overlay.learn_again(cast(Live, live), [LEAF1, LEAF2])
    assert restarted == [LEAF1, LEAF2]
    assert asked == [True, False, False, False, True]
