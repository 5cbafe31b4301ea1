"""Commands between two configs: typed at the old one they make the new one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pytest

from fabric.audit.diff import remedy
from fabric.audit.diff.order import Tree, indented
from tests import ROOT, samples
from tests.audit.diff.apply import left, typed
from tests.audit.diff.candidate.model import load
from tests.audit.diff.candidate.trial import wrong
from tests.examples import folder

HERE = ROOT / "tests"
FILES = {"eos": "startup-config", "nxos": "startup-config", "frr": "frr.conf", "sonic": "frr.conf"}


@cache
def configs(nos: str) -> dict[str, str]:
    """Switches of the example site of a network OS, and those of the renderer's tests: IPv6, unnumbered, filters."""
    found = sorted((folder(f"ai-{nos}") / "configs").glob(f"*/{FILES[nos]}"))
    found += sorted((HERE / "golden" / "render").glob(f"{nos}-*/{FILES[nos]}"))
    return {path.parent.name: path.read_text(encoding="utf-8") for path in found}


def pairs(nos: str) -> list[tuple[str, str]]:
    """Two switches that have little in common, and two that have much."""
    names = list(configs(nos))
    return [*itertools.pairwise(names), *zip(names, reversed(names), strict=True)]


@pytest.mark.parametrize("nos", ["eos", "nxos"])
def test_a_switch_takes_the_commands_to_become_another(nos: str) -> None:
    """Any switch can become any other: far larger changes than two intents ever make."""
    model = load(nos)
    for one, two in samples.some(pairs(nos), 10):
        old, new = configs(nos)[one], configs(nos)[two]
        assert wrong(model, old, new, remedy.commands(nos, old, new)) == [], f"{one} to {two}"


@pytest.mark.parametrize("nos", ["frr", "sonic"])
def test_commands_make_one_switch_of_another(nos: str) -> None:
    rules = remedy.dialect(nos).rules
    assert rules is not None
    for one, two in pairs(nos):
        old, new = configs(nos)[one], configs(nos)[two]
        wanted = indented(new)
        found = typed(old, remedy.commands(nos, old, new), rules)
        assert left(found, wanted, indented(old), rules) == wanted, f"{one} to {two}"


def test_no_list_of_frr_is_empty_meanwhile() -> None:
    """Prefixes come, go and change places in a list that a route map uses."""
    rules = remedy.dialect("frr").rules
    assert rules is not None
    orders = [order for length in (1, 2, 3) for order in itertools.permutations("1234", length)]
    for one, two in itertools.product(orders, repeat=2):
        old, new = (_in_use(order) for order in (one, two))
        found = typed(old, remedy.commands("frr", old, new), rules)
        assert left(found, indented(new), indented(old), rules) == indented(new), f"{one} to {two}"


def _in_use(prefixes: tuple[str, ...]) -> str:
    lines = [f"ip prefix-list A seq {10 * at} permit 10.{prefix}.0.0/16" for at, prefix in enumerate(prefixes, 1)]
    return "\n".join([*lines, "route-map B permit 10", " match ip address prefix-list A", ""])


@pytest.mark.parametrize("nos", FILES)
def test_nothing_to_do(nos: str) -> None:
    for text in configs(nos).values():
        assert remedy.commands(nos, text, text) == []


def sections(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Tree]]:
    yield path, tree
    for line, below in tree.items():
        yield from sections(below, (*path, line))


@pytest.mark.parametrize("nos", ["eos", "nxos", "frr", "sonic"])
def test_no_section_says_one_thing_twice(nos: str) -> None:
    """A rule that took two lines for one would lose one of them."""
    rules = remedy.dialect(nos).rules
    assert rules is not None
    for name, text in configs(nos).items():
        for path, tree in sections(indented(text)):
            keys = [key for line in tree if (key := rules.key(path, line))]
            assert len(keys) == len(set(keys)), (name, path)


# --- in the words of each network OS: running, intended, what is typed ------------------------------------------

EOS_PORT = """
interface Ethernet1/1
   description gpu-0001 compute1
   mtu 9164
   no switchport
   vrf red
   ip address 10.0.0.0/31
"""
EOS_BGP = """
router bgp 65001
   neighbor 10.0.0.1 peer group FABRIC
   neighbor 10.0.0.1 remote-as 65101
   neighbor 10.0.0.1 description spine001
   neighbor 10.0.0.3 peer group FABRIC
   neighbor 10.0.0.3 remote-as 65101
   neighbor 10.0.0.3 description spine002
   address-family ipv4
      neighbor 10.0.0.3 activate
"""
NXOS_PORT = """
interface Ethernet1/1
  no switchport
  vrf member red
  no ip redirects
  ip address 10.0.0.0/31
"""
FRR_TENANT = """
vrf vrf-red
 vni 50001
exit-vrf
!
router bgp 65001
 bgp router-id 10.0.0.1
exit
!
router bgp 65001 vrf vrf-red
 bgp router-id 10.0.0.1
exit
"""
SESSIONS_END = "! every BGP session of this instance ends"
CASES = {
    "a value": ("eos", EOS_PORT, EOS_PORT.replace("9164", "9000"), ["interface Ethernet1/1", "   mtu 9000"]),
    "a line that goes": ("eos", EOS_PORT, EOS_PORT.replace("   mtu 9164\n", ""), ["interface Ethernet1/1", "   no mtu"]),
    "another VRF takes the address along": (
        "eos",
        EOS_PORT,
        EOS_PORT.replace("vrf red", "vrf blue"),
        ["interface Ethernet1/1", "   vrf blue", "   ip address 10.0.0.0/31"],
    ),
    "no VRF any more": (
        "eos",
        EOS_PORT,
        EOS_PORT.replace("   vrf red\n", ""),
        ["interface Ethernet1/1", "   no vrf red", "   ip address 10.0.0.0/31"],
    ),
    "another VRF of NX-OS": (
        "nxos",
        NXOS_PORT,
        NXOS_PORT.replace("member red", "member blue"),
        ["interface Ethernet1/1", "  vrf member blue", "  no ip redirects", "  ip address 10.0.0.0/31"],
    ),
    "a port that is no more": ("eos", EOS_PORT, "", ["default interface Ethernet1/1"]),
    "a subinterface that is no more": (
        "nxos",
        "interface Ethernet1/1.11\n  encapsulation dot1q 11\n",
        "",
        ["no interface Ethernet1/1.11"],
    ),
    "a neighbor that goes": (
        "eos",
        EOS_BGP,
        "\n".join(line for line in EOS_BGP.splitlines() if "10.0.0.3" not in line and "address-family" not in line),
        ["router bgp 65001", "   no address-family ipv4", "   no neighbor 10.0.0.3"],
    ),
    "a neighbor's other AS number": (
        "eos",
        EOS_BGP,
        EOS_BGP.replace("10.0.0.3 remote-as 65101", "10.0.0.3 remote-as 65102"),
        ["router bgp 65001", "   neighbor 10.0.0.3 remote-as 65102"],
    ),
    "another AS number is another BGP": (
        "frr",
        "router bgp 65001\n bgp router-id 10.0.0.1\n",
        "router bgp 65002\n bgp router-id 10.0.0.1\n",
        [SESSIONS_END, "no router bgp 65001", "router bgp 65002", " bgp router-id 10.0.0.1"],
    ),
    "what uses goes before what is used": (
        "frr",
        FRR_TENANT,
        "",
        [
            "vrf vrf-red",
            " no vni 50001",
            " exit",
            "! wait a second here: bgpd refuses the next line until it knows that the VNI is gone",
            "no router bgp 65001 vrf vrf-red",
            SESSIONS_END,
            "no router bgp 65001",
        ],
    ),
    "on and off": (
        "nxos",
        "interface Ethernet1/2\n  description spare\n  shutdown\n",
        "interface Ethernet1/2\n  description gpu-0002 compute1\n  no shutdown\n",
        ["interface Ethernet1/2", "  description gpu-0002 compute1", "  no shutdown"],
    ),
    "a neighbor that enters a group": (  # with what it had by itself, `no … activate` would stay against the group
        "frr",
        "router bgp 1\n neighbor G peer-group\n neighbor 10.0.0.1 remote-as 5\n address-family ipv4 unicast\n"
        "  neighbor G activate\n  neighbor 10.0.0.1 activate\n",
        "router bgp 1\n neighbor G peer-group\n neighbor 10.0.0.1 remote-as 6\n neighbor 10.0.0.1 peer-group G\n"
        " address-family ipv4 unicast\n  neighbor G activate\n",
        ["router bgp 1", " no neighbor 10.0.0.1", " neighbor 10.0.0.1 remote-as 6", " neighbor 10.0.0.1 peer-group G"],
    ),
    "a neighbor of a VRF that enters a group": (
        "eos",
        "router bgp 1\n   vrf red\n      neighbor 10.0.0.1 remote-as 5\n      address-family ipv4\n"
        "         neighbor G activate\n         neighbor 10.0.0.1 activate\n",
        "router bgp 1\n   vrf red\n      neighbor 10.0.0.1 peer group G\n      neighbor 10.0.0.1 remote-as 5\n"
        "      address-family ipv4\n         neighbor G activate\n",
        [
            "router bgp 1",
            "   vrf red",
            "      no neighbor 10.0.0.1",
            "      neighbor 10.0.0.1 peer group G",
            "      neighbor 10.0.0.1 remote-as 5",
        ],
    ),
    "a prefix list whose entries are all others": (  # without an entry it would deny all, or be gone while it is used
        "frr",
        "ip prefix-list A seq 10 permit 10.0.0.0/8\nip prefix-list A seq 20 permit 10.1.0.0/16\n",
        "ip prefix-list A seq 30 permit 10.0.0.0/9\n",
        [
            "ip prefix-list A seq 30 permit 10.0.0.0/9",
            "no ip prefix-list A seq 10 permit 10.0.0.0/8",
            "no ip prefix-list A seq 20 permit 10.1.0.0/16",
        ],
    ),
    "an entry with another number": (  # which a list has once
        "frr",
        "ip prefix-list A seq 10 permit 10.0.0.0/8\n",
        "ip prefix-list A seq 30 permit 10.0.0.0/8\n",
        ["no ip prefix-list A seq 10 permit 10.0.0.0/8", "ip prefix-list A seq 30 permit 10.0.0.0/8"],
    ),
    "a server in a new VRF": (
        "eos",
        "hostname a\n",
        "hostname a\ntacacs-server host 10.0.0.9 vrf MGMT key 0 K\nvrf instance MGMT\n",
        ["vrf instance MGMT", "tacacs-server host 10.0.0.9 vrf MGMT key 0 K"],
    ),
    "a server at another port": (
        "eos",
        "tacacs-server host 10.0.0.9 key 0 K\naaa group server tacacs+ T\n   server 10.0.0.9\n",
        "tacacs-server host 10.0.0.9 port 50 key 0 K\naaa group server tacacs+ T\n   server 10.0.0.9 port 50\n",
        [
            "tacacs-server host 10.0.0.9 port 50 key 0 K",
            "aaa group server tacacs+ T",
            "   no server 10.0.0.9",
            "   server 10.0.0.9 port 50",
            "   exit",
            "no tacacs-server host 10.0.0.9",
        ],
    ),
    "another anycast MAC address": (
        "nxos",
        "fabric forwarding anycast-gateway-mac 0000.5e00.0101\n",
        "fabric forwarding anycast-gateway-mac 4438.39ff.0001\n",
        ["fabric forwarding anycast-gateway-mac 4438.39ff.0001"],
    ),
    "a prefix list": (
        "frr",
        "ip prefix-list A seq 10 permit 10.0.0.0/8\nip prefix-list A seq 20 permit 10.1.0.0/16\n",
        "ip prefix-list A seq 10 permit 10.0.0.0/9\n",
        ["ip prefix-list A seq 10 permit 10.0.0.0/9", "no ip prefix-list A seq 20 permit 10.1.0.0/16"],
    ),
    "a banner of several lines": (
        "eos",
        "banner login\nAuthorized access only\nEOF\n",
        "banner login\nKeep out\nEOF\n",
        ["banner login", "Keep out", "EOF"],
    ),
    "a comment": ("eos", "! one\nhostname a\n", "! two\nhostname a\n", []),
    "a release is no command": ("nxos", "version 10.4(5)\nhostname a\n", "version 10.5(3)\nhostname a\n", []),
    "a VRF goes after those that use it": (
        "eos",
        "vrf instance red\n" + EOS_PORT + "ip routing vrf red\nrouter bgp 65001\n   vrf red\n      rd 10.0.0.1:1\n",
        EOS_PORT.replace("   vrf red\n   ip address 10.0.0.0/31\n", "") + "router bgp 65001\n",
        [
            "interface Ethernet1/1",
            "   no ip address 10.0.0.0/31",
            "   no vrf red",
            "router bgp 65001",
            "   no vrf red",
            "   exit",
            "no ip routing vrf red",
            "no vrf instance red",
        ],
    ),
    "the default of a VRF that goes is not printed": (
        "eos",
        "vrf instance MGMT\ninterface Management1\n   vrf MGMT\nno ip routing vrf MGMT\n",
        "interface Management1\n",
        ["interface Management1", "   no vrf MGMT", "   exit", "no vrf instance MGMT"],
    ),
    "a filter goes after its ports": (
        "nxos",
        "ip access-list ACL-red\n  10 permit ip any any\ninterface Ethernet1/1\n  ip access-group ACL-red in\n",
        "interface Ethernet1/1\n",
        ["interface Ethernet1/1", "  no ip access-group ACL-red in", "  exit", "no ip access-list ACL-red"],
    ),
    "policies in use are refused, and `system qos` has no `no`": (
        "nxos",
        "class-map type qos match-any ROCE\n  match dscp 26\npolicy-map type qos IN\n  class ROCE\n    set qos-group 3\n"
        "system qos\n  service-policy type network-qos NETWORK\ninterface Ethernet1/1\n  service-policy type qos input IN\n",
        "interface Ethernet1/1\n",
        [
            "system qos",
            "  no service-policy type network-qos NETWORK",
            "  exit",
            "interface Ethernet1/1",
            "  no service-policy type qos input IN",
            "  exit",
            "no policy-map type qos IN",
            "no class-map type qos match-any ROCE",
        ],
    ),
    "an address that moves is let go first": (
        "nxos",
        "interface Ethernet1/1\n  ip address 10.0.0.0/31\ninterface Ethernet1/2\n  ip address 10.0.0.2/31\n",
        "interface Ethernet1/1\n  ip address 10.0.0.2/31\ninterface Ethernet1/2\n  ip address 10.0.0.0/31\n",
        [
            "interface Ethernet1/1",
            "  no ip address 10.0.0.0/31",
            "interface Ethernet1/2",
            "  no ip address 10.0.0.2/31",
            "  exit",
            "interface Ethernet1/1",
            "  ip address 10.0.0.2/31",
            "interface Ethernet1/2",
            "  ip address 10.0.0.0/31",
        ],
    ),
    "a VNI that another VRF takes": (
        "nxos",
        "vrf context red\n  vni 50001\n",
        "vrf context green\n  vni 50001\n",
        ["vrf context red", "  no vni 50001", "  exit", "vrf context green", "  vni 50001", "  exit", "no vrf context red"],
    ),
    "FRR takes no other VNI before the old one goes": (
        "frr",
        "vrf vrf-red\n vni 50001\n",
        "vrf vrf-red\n vni 777\n",
        ["vrf vrf-red", " no vni 50001", " vni 777"],
    ),
    "FRR takes no prefix twice in a list": (
        "frr",
        "ip prefix-list A seq 10 permit 10.0.0.0/8\nip prefix-list A seq 20 permit 11.0.0.0/8\n"
        "ip prefix-list A seq 30 permit 12.0.0.0/8\n",
        "ip prefix-list A seq 10 permit 11.0.0.0/8\nip prefix-list A seq 20 permit 12.0.0.0/8\n",
        [
            "no ip prefix-list A seq 20 permit 11.0.0.0/8",
            "no ip prefix-list A seq 30 permit 12.0.0.0/8",
            "ip prefix-list A seq 10 permit 11.0.0.0/8",
            "ip prefix-list A seq 20 permit 12.0.0.0/8",
        ],
    ),
    "FRR has no `no address-family`": (
        "frr",
        "router bgp 65001\n neighbor O peer-group\n address-family l2vpn evpn\n  neighbor O activate\n  advertise-all-vni\n",
        "router bgp 65001\n",
        [
            "router bgp 65001",
            " address-family l2vpn evpn",
            "  no advertise-all-vni",
            "  no neighbor O activate",
            "  exit",
            " no neighbor O peer-group",
        ],
    ),
    "unnumbered neighbors of EOS": (
        "eos",
        "router bgp 65001\n   neighbor interface Ethernet1/1 peer-group FABRIC remote-as 65101\n",
        "router bgp 65001\n   router-id 10.0.0.1\n",
        [
            "router bgp 65001",
            "   no neighbor interface Ethernet1/1 peer-group FABRIC remote-as 65101",
            "   router-id 10.0.0.1",
        ],
    ),
    "routing is never switched off": ("eos", "ip routing\n", "ip routing ipv6 interfaces\n", ["ip routing ipv6 interfaces"]),
    "a bond that goes": (
        "nxos",
        "interface port-channel1\n  vpc 1\ninterface Ethernet1/1\n  channel-group 1 mode active\n",
        "interface Ethernet1/1\n",
        ["default interface Ethernet1/1", "no interface port-channel1"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_commands(name: str) -> None:
    nos, running, intended, wanted = CASES[name]
    assert remedy.commands(nos, running, intended) == wanted
