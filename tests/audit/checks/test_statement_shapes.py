"""A statement that is read by the words of its shape means what the patterns say of its text."""

from __future__ import annotations

import pytest

from fabric.audit.checks.role_peers.outline import Cache, outline
from fabric.audit.checks.role_peers.shapes import sense_of
from fabric.audit.checks.statements import syntax_of
from tests.audit.checks.shapes import switches

OSPF = "interface Ethernet1\n   ip ospf area 0.0.0.0\ninterface Ethernet1\n   ip ospf area 0.0.0.1\n"


@pytest.mark.parametrize(("nos", "shape"), [("eos", "evpn"), ("nxos", "routed"), ("frr", "ipv6"), ("sonic", "routed")])
def test_words_of_a_shape_mean_what_patterns_say(nos: str, shape: str) -> None:
    cache, syntax = Cache(nos=nos), syntax_of(nos)
    texts = [switch.files for switch in switches(nos, shape)] + ([{"startup-config": OSPF}] if nos == "eos" else [])
    read = {statement for files in texts for statement in outline("leaf1", nos, files, cache).statements}
    shapes = {statement.shape.key for statement in read}
    assert len(shapes) < len(read), "no two statements of one shape"
    for statement in read:
        text = syntax.joined(statement.path)
        assert statement.meaning == sense_of(nos, text).read(text), text
