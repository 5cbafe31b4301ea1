"""EOS configs as people type them, and as EOS prints them."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from fabric.nos.eos.statements import as_shown, is_typed
from tests.examples import located, paths

GENERATED = paths("ai-eos/configs/*001/startup-config")

# Typed lines → the lines as EOS prints them.
TYPED = {
    "keywords cut short": (
        "int et1\n desc to spine\n ip add 10.0.0.1/31\n no shut\n",
        "interface Ethernet1\n description to spine\n ip address 10.0.0.1/31\n no shutdown\n",
    ),
    "names in small letters, cut short, with a blank": (
        "interface loopback0\ninterface vxlan 1\n vxlan source-int lo1\ninterface po 12\n",
        "interface Loopback0\ninterface Vxlan1\n vxlan source-interface Loopback1\ninterface Port-Channel12\n",
    ),
    "a command of the top below a section": (
        "interface Loopback0\n ip address 10.0.0.1/32\n\n ip routing\n router bgp 1\n router-id 10.0.0.1\n",
        "interface Loopback0\n ip address 10.0.0.1/32\n\nip routing\nrouter bgp 1\n router-id 10.0.0.1\n",
    ),
    "a section without indentation": (
        "interface Ethernet1\nno switchport\nip address 10.0.0.1/31\nip routing\nrouter bgp 1\nneighbor X remote-as 2\n",
        "interface Ethernet1\n no switchport\n ip address 10.0.0.1/31\nip routing\nrouter bgp 1\n neighbor X remote-as 2\n",
    ),
    "an address family without indentation": (
        "router bgp 1\n neighbor X remote-as 2\n address-family ipv4\n neighbor X activate\n router-id 10.0.0.1\n",
        "router bgp 1\n neighbor X remote-as 2\n address-family ipv4\n  neighbor X activate\n router-id 10.0.0.1\n",
    ),
    "commands of the process below an address family, and a family below a neighbor": (
        "router bgp 1\n   address-family ipv4\n        network 10.0.0.1/32\n      neighbor X peer group\n"
        "           neighbor X remote-as 2\n           address-family ipv4\n    neighbor X activate\n"
        "      router-id 10.0.0.1\n",
        "router bgp 1\n   address-family ipv4\n        network 10.0.0.1/32\n   neighbor X peer group\n"
        "   neighbor X remote-as 2\n   address-family ipv4\n    neighbor X activate\n   router-id 10.0.0.1\n",
    ),
    "VLANs that are indented unevenly": (
        "router bgp 1\n neighbor X remote-as 2\n   vlan 10\n  rd 1:1\n    vlan 20\n rd 1:2\nint lo0\n",
        "router bgp 1\n neighbor X remote-as 2\n vlan 10\n  rd 1:1\n vlan 20\n  rd 1:2\ninterface Loopback0\n",
    ),
    "comments of other systems inside a process": (
        "router bgp 1\n neighbor X peer group\n# the underlay\n address-family ipv4\n neighbor X activate\n",
        "router bgp 1\n neighbor X peer group\n!# the underlay\n address-family ipv4\n  neighbor X activate\n",
    ),
    "comments behind commands": (
        "interface Vxlan1\n vxlan vlan 20 vni 10020   ! VLAN 20\n description a ! b\n",
        "interface Vxlan1\n vxlan vlan 20 vni 10020\n description a ! b\n",
    ),
    "references to interfaces": (
        "mlag configuration\n local-interface vlan 4090\n peer-link port-chann 9\nrouter bgp 1\n"
        " neighbor X update-source lo0\n",
        "mlag configuration\n local-interface Vlan4090\n peer-link Port-Channel9\nrouter bgp 1\n"
        " neighbor X update-source Loopback0\n",
    ),
}


@pytest.mark.parametrize("case", TYPED)
def test_typed_lines_become_those_that_eos_prints(case: str) -> None:
    typed, shown = TYPED[case]
    assert as_shown(typed) == shown
    assert as_shown(shown) == shown


@pytest.mark.parametrize("path", GENERATED, ids=str)
def test_a_printed_config_stays_as_it_is(path: PurePath) -> None:
    text = located(path).read_text()
    assert as_shown(text) == text
    assert not is_typed(text)  # read as it is, without a look at each line
    assert as_shown(f"int lo99\n{text}") == f"interface Loopback99\n{text}"


@pytest.mark.parametrize(
    "text",
    [
        "management api http-commands\n   no shutdown\n   vrf MGMT\n      no shutdown\n",
        "switch forwarding-mode cut-through\nint lo0\n",
        "vlan 10\n   name x\nint lo0\n",
        "router bgp 1\n   vlan 10\n      rd 10.0.0.1:10\n   vrf red\n      neighbor 10.0.0.0 remote-as 2\nint lo0\n",
        "route-map RM permit 10\n   match ip address prefix-list PL\nint lo0\n",
    ],
)
def test_other_sections_keep_their_lines(text: str) -> None:
    assert as_shown(text) == text.replace("int lo0", "interface Loopback0")
