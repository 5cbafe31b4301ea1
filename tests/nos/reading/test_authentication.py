"""Authentication of BGP sessions as every network OS writes it: of the neighbor, or inherited."""

from __future__ import annotations

import pytest

from fabric.model.facts import Authentication
from fabric.nos.reading import password, read_device

AO, ENCRYPTED, CLEAR = Authentication("TCP-AO"), Authentication("MD5"), password("one")
SONIC = '{"DEVICE_METADATA": {"localhost": {"bgp_asn": "1"}}, %s}'
CASES = {
    ("eos", "clear"): ("router bgp 1\n   neighbor 10.0.0.0 remote-as 2\n   neighbor 10.0.0.0 password one\n", CLEAR),
    ("eos", "group"): (
        "router bgp 1\n   neighbor G peer group\n   neighbor G password 7 abc\n   neighbor 10.0.0.0 peer group G\n",
        ENCRYPTED,
    ),
    ("eos", "listen range"): (
        "router bgp 1\n   bgp listen range 10.0.0.0/24 peer-group G remote-as 2\n   neighbor G peer group\n"
        "   neighbor G password 0 one\n",
        CLEAR,
    ),
    ("nxos", "template"): (
        "router bgp 1\n  template peer-session S\n    password 3 abc\n  neighbor 10.0.0.0\n    inherit peer-session S\n",
        ENCRYPTED,
    ),
    ("nxos", "key chain"): ("router bgp 1\n  neighbor 10.0.0.0\n    ao CHAIN include-tcp-options\n", AO),
    ("junos", "neighbor over group"): (
        'set protocols bgp group G authentication-key "$9$abc"\n'
        "set protocols bgp group G neighbor 10.0.0.0 authentication-key one\n",
        CLEAR,
    ),
    ("junos", "TCP-AO"): (
        "set protocols bgp authentication-algorithm ao\nset protocols bgp authentication-key-chain C\n"
        "set protocols bgp group G neighbor 10.0.0.0 peer-as 2\n",
        AO,
    ),
    ("frr", "group"): (
        "router bgp 1\n neighbor G peer-group\n neighbor G password one\n neighbor 10.0.0.0 peer-group G\n",
        CLEAR,
    ),
    ("frr", "removed"): (
        "router bgp 1\n neighbor 10.0.0.0 remote-as 2\n neighbor 10.0.0.0 password one\n no neighbor 10.0.0.0 password\n",
        None,
    ),
    ("cumulus", "group"): (
        "nv set vrf default router bgp peer-group G password one\n"
        "nv set vrf default router bgp neighbor 10.0.0.0 peer-group G\n",
        CLEAR,
    ),
    ("cumulus", "hidden"): ("nv set vrf default router bgp neighbor 10.0.0.0 password '*'\n", ENCRYPTED),
    ("sonic", "neighbor"): (SONIC % '"BGP_NEIGHBOR": {"10.0.0.0": {"asn": "2", "auth_password": "one"}}', CLEAR),
    ("sonic", "encrypted"): (
        SONIC % '"BGP_NEIGHBOR": {"10.0.0.0": {"asn": "2", "auth_password": "U2FsdGVkX1abc"}}',
        ENCRYPTED,
    ),
}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_read(case: tuple[str, str]) -> None:
    text, expected = CASES[case]
    file = {"sonic": "config_db.json", "frr": "frr.conf"}.get(case[0], "x.cfg")
    (peer,) = read_device("x", case[0], {file: text}).neighbors()
    assert (peer.authentication.value if peer.authentication else None) == expected
    assert "one'" not in repr(peer.authentication)
