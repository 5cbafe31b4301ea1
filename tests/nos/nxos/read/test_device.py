"""What an NX-OS config says, line by line, in the words of this project's templates and of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from textwrap import dedent
from typing import Any

import pytest

from fabric.model.facts import MANAGEMENT, Ecn, Facts, Interface, Located, Neighbor, PortQos, Secret, Vni, Vrf
from fabric.nos.reading import read_device
from tests.examples import located, paths
from tests.nos.classes import without_links
from tests.nos.undefined import undefined_in

FILE = "startup-config"
GENERATED = paths("ai-nxos/configs/*/startup-config")


def facts(text: str) -> Facts:
    return read_device("device", "nxos", {FILE: dedent(text)})


def parsed(value: Any, line: int) -> Any:
    return Located(value, line, FILE)


def plain(found: Sequence[Located[str] | Located[Secret]]) -> list[str]:
    return [f"{own.line}: {own.value}" for own in found]


def test_routed_ports() -> None:
    found = facts("""\
        interface Ethernet1/1
          description leaf1 Ethernet1/49
          no switchport
          mtu 9216
          speed 400000
          vrf member red
          ip address 10.0.0.1 255.255.255.254
          ip address 10.9.0.1/24 secondary
          ipv6 address FD00::1/64
          ip access-group RED in
          no shutdown
        interface Ethernet1/2.11
          encapsulation dot1q 11
          ip address 10.0.0.3/31
          shutdown
        interface Ethernet1/3
          ip forward
          ipv6 address use-link-local-only
        interface mgmt0
          ip address 172.16.0.1/24
        """).interfaces
    assert found == {
        "Ethernet1/1": Interface(
            name="Ethernet1/1",
            line=1,
            file=FILE,
            description=parsed("leaf1 Ethernet1/49", 2),
            mtu=parsed(9216, 4),
            speed_gbps=parsed(400, 5),
            vrf=parsed("red", 6),
            addresses=[parsed("10.0.0.1/31", 7), parsed("10.9.0.1/24", 8), parsed("fd00::1/64", 9)],
            filters=[parsed("RED", 10)],
            enabled=parsed(True, 11),
        ),
        "Ethernet1/2.11": Interface(
            name="Ethernet1/2.11",
            line=12,
            file=FILE,
            tag=parsed(11, 13),
            addresses=[parsed("10.0.0.3/31", 14)],
            enabled=parsed(False, 15),
        ),
        "Ethernet1/3": Interface(name="Ethernet1/3", line=16, file=FILE, link_local=True),
        "mgmt0": Interface(
            name="mgmt0", line=19, file=FILE, addresses=[parsed("172.16.0.1/24", 20)], vrf=parsed(MANAGEMENT, 19)
        ),
    }


@pytest.mark.parametrize(
    ("first", "second", "state"),
    [
        ("no switchport\n  no shutdown", "no switchport", (True, False)),
        ("no switchport", "no switchport", (None, None)),  # written by hand, and entered beside what the device has
        ("no switchport\n  no shutdown", "switchport mode trunk", (True, None)),  # switched ports are up by default
        ("no switchport\n  no shutdown", "no switchport\n  shutdown", (True, False)),
    ],
)
def test_routed_ports_are_shut_by_default(first: str, second: str, state: tuple[bool | None, bool | None]) -> None:
    found = facts(f"interface Ethernet1/1\n  {first}\ninterface Ethernet1/2\n  {second}\n").interfaces
    assert tuple(port.enabled and port.enabled.value for port in found.values()) == state


def test_a_later_address_takes_the_place_of_an_earlier_one() -> None:
    found = facts("interface Vlan5\n  ip address 10.0.0.1/24\n  ip address 10.0.0.2/24\n").interfaces["Vlan5"]
    assert found.addresses == [parsed("10.0.0.2/24", 3)]


@pytest.mark.parametrize(
    ("head", "names"),
    [
        ("interface e1/1-3", ["Ethernet1/1", "Ethernet1/2", "Ethernet1/3"]),
        ("interface Ethernet1/1, Ethernet1/9-10", ["Ethernet1/1", "Ethernet1/9", "Ethernet1/10"]),
        ("interface ethernet 1/5/2", ["Ethernet1/5/2"]),
        ("int po7", ["port-channel7"]),
        ("interface lo0", ["loopback0"]),
        ("interface vlan12", ["Vlan12"]),
    ],
)
def test_names_and_ranges(head: str, names: list[str]) -> None:
    found = facts(f"{head}\n  desc spare\n  shut\n").interfaces
    assert list(found) == names
    assert {(port.line, port.enabled, port.description) for port in found.values()} == {
        (1, parsed(False, 3), parsed("spare", 2))
    }


def test_switched_ports() -> None:
    found = facts("""\
        interface port-channel5
          switchport mode trunk
          switchport access vlan 9
          switchport trunk native vlan 100
          switchport trunk allowed vlan 100-102
          switchport trunk allowed vlan add 200
          switchport trunk allowed vlan remove 101
          ethernet-segment 5
            system-mac 0200.0000.0001
        interface Ethernet1/1
          switchport access vlan 7
          switchport trunk allowed vlan 5
          channel-group 5 mode active
        interface Ethernet1/2
          switchport mode trunk
          switchport trunk allowed vlan 1-4094
        """).interfaces
    bond, access, everything = found.values()
    assert (bond.access, bond.trunk) == (parsed(100, 4), [parsed(100, 5), parsed(102, 5), parsed(200, 6)])
    assert bond.esi == parsed("03:02:00:00:00:00:01:00:00:05", 8)
    assert (access.access, access.trunk, access.bond) == (parsed(7, 11), [], parsed("port-channel5", 13))
    assert (everything.access, everything.trunk) == (None, [])


def test_virtual_addresses_are_gateways() -> None:
    found = facts("""\
        interface Vlan10
          ip address 10.1.0.1/24
          ip address 10.2.0.1/24 secondary
          fabric forwarding mode anycast-gateway
        interface Vlan20
          ip address 10.3.0.2/24
          ip address 10.4.0.2/25 secondary
          hsrp 2
            preempt
            ip 10.3.0.1
            ip 10.4.0.1 secondary
          vrrp 3
            address 10.5.0.1
        """).interfaces
    assert found["Vlan10"].addresses == []
    assert found["Vlan10"].gateways == [parsed("10.1.0.1/24", 2), parsed("10.2.0.1/24", 3)]
    assert found["Vlan20"].addresses == [parsed("10.3.0.2/24", 6), parsed("10.4.0.2/25", 7)]
    assert found["Vlan20"].gateways == [parsed("10.3.0.1/24", 10), parsed("10.4.0.1/25", 11), parsed("10.5.0.1/32", 13)]


BGP = """\
router bgp 64512.2
  router-id 10.0.0.1
  bestpath as-path multipath-relax
  timers bgp 10 30
  address-family ipv4 unicast
    maximum-paths 64
    maximum-paths ibgp 2
  address-family ipv6 unicast
    maximum-paths 32
  address-family l2vpn evpn
    maximum-paths 4
  template peer-policy STRICT
    prefix-list PL-OUT out
    maximum-prefix 100
  template peer-policy WIDE
    maximum-prefix 9000 80
    allowas-in
    route-map RM-IN in
  template peer-session SLOW
    timers 60 180
    ebgp-multihop 5
    update-source lo0
  template peer FABRIC
    inherit peer-session SLOW
    bfd
    timers 3 9
    address-family ipv4 unicast
      inherit peer-policy WIDE 20
      inherit peer-policy STRICT 10
  neighbor 10.0.0.2 remote-as 65002
    inherit peer FABRIC
    no bfd
    address-family ipv4 unicast
      allowas-in 5
    address-family l2vpn evpn
      route-map RM-EVPN in
  neighbor Ethernet1/1
    remote-as 64512.3
    address-family ipv4 unicast
    shutdown
  neighbor 10.8.0.9/24
    remote-as route-map RM-PEERS
    description servers
  neighbor 10.0.0.4 inherit peer FABRIC
  vrf red
    local-as 65010 no-prepend replace-as
    router-id 10.0.0.1
    neighbor FD00::2
      remote-as external
      local-as 65011
      address-family ipv6 unicast
route-map RM-IN permit 10
route-map RM-EVPN permit 10
route-map RM-PEERS permit 10
ip prefix-list PL-OUT seq 5 permit 10.0.0.0/8 ge 24 le 32
ip prefix-list PL-OUT seq 9 deny 0.0.0.0/0
vrf context red
"""


def test_sessions_with_all_that_they_inherit() -> None:
    found = facts(BGP)
    main, red = found.bgp[""], found.bgp["red"]
    assert (main.line, main.asn, main.router_id) == (1, parsed((64512 << 16) + 2, 1), parsed("10.0.0.1", 2))
    assert (main.max_paths, main.relax) == (parsed(32, 9), parsed(True, 3))
    assert (red.line, red.asn, red.max_paths, red.relax) == (45, parsed(65010, 46), parsed(1, 45), parsed(False, 45))
    fabric: dict[str, Any] = {
        "multihop": parsed(5, 21),
        "source": parsed("loopback0", 22),
        "bfd": parsed(True, 25),
        "keepalive_s": parsed(3, 26),
        "hold_s": parsed(9, 26),
        "max_prefix": parsed(100, 14),
        "allowas_in": parsed(3, 17),
        "import_filter": parsed("RM-IN", 18),
        "export_filter": parsed("PL-OUT", 13),
        "families": [parsed("ipv4", 27)],
    }
    slow: dict[str, Any] = {"keepalive_s": parsed(10, 4), "hold_s": parsed(30, 4)}
    own = fabric | {
        "bfd": parsed(False, 32),
        "allowas_in": parsed(5, 34),
        "families": [parsed("ipv4", 33), parsed("evpn", 35)],
        "extended": parsed(False, 35),
        "unchanged": parsed(False, 35),
    }
    assert main.neighbors == {
        "10.0.0.2": Neighbor(vrf="", peer="10.0.0.2", line=30, file=FILE, remote_as=parsed(65002, 30), **own),
        "Ethernet1/1": Neighbor(
            vrf="",
            peer="Ethernet1/1",
            line=37,
            file=FILE,
            remote_as=parsed((64512 << 16) + 3, 38),
            families=[parsed("ipv4", 39)],
            enabled=parsed(False, 40),
            interface=True,
            **slow,
        ),
        "10.8.0.0/24": Neighbor(
            vrf="", peer="10.8.0.0/24", line=41, file=FILE, description=parsed("servers", 43), dynamic=True, **slow
        ),
        "10.0.0.4": Neighbor(vrf="", peer="10.0.0.4", line=44, file=FILE, **fabric),
    }
    assert red.neighbors == {
        "fd00::2": Neighbor(
            vrf="red",
            peer="fd00::2",
            line=48,
            file=FILE,
            remote_as=parsed("external", 49),
            local_as=parsed(65011, 50),
            families=[parsed("ipv6", 51)],
            **slow,
        )
    }
    assert (found.unread, found.broken) == ([], [])
    assert found.prefixes == {"PL-OUT": [parsed("10.0.0.0/8 ge 24", 55)]}


def test_templates_in_a_circle_end() -> None:
    found = facts("""\
        router bgp 65001
          template peer-session A
            inherit peer-session B
          template peer-session B
            inherit peer-session A
            timers 3 9
          neighbor 10.0.0.2
            inherit peer-session A
        """)
    assert found.bgp[""].neighbors["10.0.0.2"].hold_s == parsed(9, 6)


def test_overlay() -> None:
    found = facts("""\
        fabric forwarding anycast-gateway-mac 0000.5e00.0101
        vlan 1,100,3001
        vlan 100
          name web
          vn-segment 10100
        vlan 3001
          vn-segment 50001
        vrf context management
          ip route 0.0.0.0/0 172.16.0.254
        vrf context red
          vni 50001
          rd auto
          address-family ipv4 unicast
            route-target import 65000:50001
            route-target import 65000:50001 evpn
            route-target both auto evpn
        vrf context blue
          vni 50002 l3
        interface nve1
          no shutdown
          source-interface lo1
          member vni 10100
            suppress-arp
          member vni 10200
          member vni 50001-50002 associate-vrf
          member vni 50009 associate-vrf
        evpn
          vni 10100 l2
            rd 10.0.0.1:100
            route-target both 65000:10100
          vni 10300 l2
            rd auto
        """)
    assert found.vrfs == {
        "red": Vrf(
            name="red",
            line=10,
            file=FILE,
            vni=parsed(50001, 11),
            vlan=parsed(3001, 6),
            rd=parsed("auto", 12),
            imports=[parsed("65000:50001", 14), parsed("auto", 16)],
            exports=[parsed("auto", 16)],
        ),
        "blue": Vrf(name="blue", line=17, file=FILE, vni=parsed(50002, 18)),
    }
    assert found.vnis == {
        10100: Vni(
            number=10100,
            line=5,
            file=FILE,
            vlan=parsed(100, 3),
            tagged=parsed(False, 5),
            rd=parsed("10.0.0.1:100", 29),
            imports=[parsed("65000:10100", 30)],
            exports=[parsed("65000:10100", 30)],
        ),
        10200: Vni(number=10200, line=24, file=FILE, tagged=parsed(False, 24)),
        10300: Vni(number=10300, line=31, file=FILE, rd=parsed("auto", 32), tagged=parsed(False, 31)),
    }
    assert (found.vtep, found.anycast_mac) == (parsed("loopback1", 21), parsed("00:00:5e:00:01:01", 1))
    assert found.interfaces == {}


QOS = """\
priority-flow-control watch-dog-interval on
priority-flow-control watch-dog shutdown-multiplier 2
class-map type qos match-any DATA
  match dscp 26,28
class-map match-all NOTICE
  match dscp cs6
class-map type qos match-any LATE
  match dscp 26
  match precedence 7
policy-map type qos IN
  class type qos DATA
    set qos-group 3
  class NOTICE
    set qos-group 7
  class LATE
    set qos-group 1
policy-map type network-qos NET
  class type network-qos c-8q-nq3
    mtu 9216
    pause buffer-size 300000 pause-threshold 100000 resume-threshold 90000 pfc-cos 4
policy-map type queuing OUT
  class type queuing c-out-8q-q7
    priority level 1
  class type queuing c-out-8q-q3
    bandwidth remaining percent 60
    random-detect minimum-threshold 950 kbytes maximum-threshold 3 mbytes drop-probability 7 weight 0 ecn
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 40
    random-detect minimum-threshold 100 kbytes maximum-threshold 200 kbytes drop-probability 7 weight 0
system qos
  service-policy type network-qos NET
  service-policy type queuing output OUT
interface Ethernet1/1
  priority-flow-control mode on
  priority-flow-control watch-dog-interval on
  service-policy type qos input IN
interface Ethernet1/2
  channel-group 1 mode active
interface Ethernet1/3
  priority-flow-control mode auto
interface Ethernet1/4
interface port-channel1
  priority-flow-control mode on
  service-policy type qos input IN
"""


def test_classes_of_ports() -> None:
    """A class that pauses is named by its priority on the wire, 4, and every other one by its group."""
    found = facts(QOS)
    whole = PortQos(
        priorities={26: parsed(4, 4), 28: parsed(4, 4), 48: parsed(7, 6)} | {code: parsed(1, 9) for code in range(56, 64)},
        names={26: "DATA", 28: "DATA", 48: "NOTICE"} | dict.fromkeys(range(56, 64), "LATE"),
        pfc=[parsed(4, 20)],
        strict=[parsed(7, 23)],
        weights={0: parsed(40, 28), 4: parsed(60, 25)},
        ecn={4: Ecn(parsed(950_000, 26), parsed(3_000_000, 26), parsed(7, 26))},
        xoff_bytes={4: parsed(200_000, 20)},
    )
    ports = {name: without_links(port.qos) for name, port in found.interfaces.items()}
    assert ports["Ethernet1/1"] == replace(whole, watchdog=parsed(True, 35))
    assert ports["Ethernet1/2"] == ports["port-channel1"] == whole
    assert ports["Ethernet1/3"] == replace(whole, priorities={}, names={}, pfc=[], xoff_bytes={})
    assert ports["Ethernet1/4"] is None
    assert (found.watchdog, found.watchdog_ms) == (parsed(True, 1), parsed(200, 2))
    assert found.unread == []


def test_classes_of_other_names() -> None:
    """Switches with four queues, and class maps that match groups."""
    found = facts("""\
        class-map type network-qos STORAGE
          match qos-group 1
        policy-map type network-qos NET
          class type network-qos STORAGE
            pause pfc-cos 3 receive
        policy-map type queuing OUT
          class type queuing c-out-q1
            bandwidth percent 70
          class type queuing c-out-q-default
            bandwidth percent 30
        system qos
          service-policy type network-qos NET
        interface Ethernet1/1
          priority-flow-control mode on
          service-policy type queuing output OUT
        """).interfaces["Ethernet1/1"]
    assert without_links(found.qos) == PortQos(pfc=[parsed(3, 5)], weights={0: parsed(30, 10), 3: parsed(70, 8)})


def test_services() -> None:
    found = facts("""\
        hostname leaf1
        feature lldp
        feature telnet
        copp profile strict
        ip load-sharing address source-destination port source-destination universal-id 77
        ip name-server 10.0.0.53 10.0.0.54 use-vrf management
        ntp server 10.0.0.1 prefer use-vrf management
        logging server 10.0.0.2 6 use-vrf management
        snmp-server community public group network-operator
        """)
    assert (found.name, found.hostname, found.hash_seed) == ("leaf1", parsed("leaf1", 1), parsed(77, 5))
    services = found.services
    assert (services.ntp, services.syslog) == ([parsed("10.0.0.1", 7)], [parsed("10.0.0.2", 8)])
    assert services.dns == [parsed("10.0.0.53", 6), parsed("10.0.0.54", 6)]
    assert (services.lldp, services.control_plane) == (parsed(True, 2), parsed(True, 4))
    assert plain(services.plain_text) == ["3: telnet", "9: SNMP community (read-only)"]
    assert plain(services.secrets) == ["9: SNMP community, in clear text"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("username admin password 5 $5$abc role network-admin", ["1: password of user admin, as a salted hash"]),
        ("username admin password 0 abc", ["1: password of user admin, in clear text"]),
        ("username admin password 5 ${ADMIN_PASSWORD_HASH} role network-admin", []),
        ("username admin password 5 ! role network-admin", []),
        ("no password strength-check", []),
        ("router bgp 1\n  neighbor 10.0.0.1\n    password 3 abc", ["3: BGP password of 10.0.0.1, in reversible form"]),
        ("router bgp 1\n  template peer RED\n    password abc", ["3: BGP password of peer, in clear text"]),
        ("router bgp 1\n  neighbor 10.0.0.1 password 3 abc", ["2: BGP password of 10.0.0.1, in reversible form"]),
        (
            "snmp-server user u network-operator auth md5 0xab priv aes-128 0xcd localizedkey",
            ["1: SNMP auth key of user u, as a localized key", "1: SNMP priv key of user u, as a localized key"],
        ),
        (f"snmp-server user u network-operator auth md5 {'0a' * 17}", ["1: SNMP auth key of user u, as a localized key"]),
        ("snmp-server user u network-operator auth sha ${KEY} priv aes-128 ${KEY}", []),
        ("tacacs-server host 10.0.0.1 key 7 abc", ["1: key of tacacs-server, in reversible form"]),
        ("tacacs-server host 10.0.0.1 key 6 abc", ["1: key of tacacs-server, encrypted with a key that is not in the file"]),
        ("interface Vlan1\n  description password 7 abc", []),
    ],
)
def test_secrets_are_named_and_never_reported(text: str, what: list[str]) -> None:
    found = facts(text)
    assert plain(found.services.secrets) == what
    assert "abc" not in repr(found.services)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("router bgp 1\n  neighbor 10.0.0.1\n    inherit peer RED", "3: peer template RED"),
        ("router bgp 1\n  address-family ipv4 unicast\n    redistribute direct route-map RM", "3: route-map RM"),
        ("router bgp 1\n  neighbor 10.0.0.1\n    address-family ipv4 unicast\n      prefix-list PL in", "4: prefix-list PL"),
        ("route-map A permit 10\n  match ip address prefix-list PL", "2: prefix-list PL"),
        ("route-map A permit 10\n  match community GSHUT exact-match", "2: community-list GSHUT"),
        ("route-map A permit 10\n  match as-path PEERS", "2: AS-path list PEERS"),
        ("interface Vlan1\n  ip access-group ACL in", "2: access-list ACL"),
        ("interface Vlan1\n  vrf member red", "2: VRF red"),
        ("router bgp 1\n  vrf red", "2: VRF red"),
        ("line vty\n  access-class ACL in", "2: access-list ACL"),
        ("system qos\n  service-policy type network-qos NET", "2: policy-map NET"),
        ("policy-map type qos P\n  class C\n    set qos-group 1", "2: class-map C"),
        ("vrf context management", None),
        ("interface Vlan1\n  description the route-map RM\n  no shutdown", None),
        ("policy-map type queuing P\n  class type queuing c-out-8q-q3\n    priority level 1", None),
        ("interface mgmt0\n  vrf member management", None),
    ],
)
def test_names_that_nothing_defines(text: str, what: str | None) -> None:
    assert plain(undefined_in("nxos", {FILE: dedent(text)})) == ([what] if what else [])


def test_what_is_not_known_is_reported() -> None:
    found = facts("""\
        frobnicate all
          with this
        interface Ethernet1/1
          mtu 9216
            stray
          antigravity on
          no ip redirects
          no antigravity
        router bgp 1
          neighbor 10.0.0.1
            sing loudly
        """)
    assert plain(found.unread) == [
        "1: frobnicate all",
        "2: with this",
        "5: stray",
        "6: antigravity on",
        "8: no antigravity",
        "11: sing loudly",
    ]
    assert found.statements == 11


def test_values_that_cannot_be() -> None:
    found = facts("""\
        interface Ethernet1/1
          ip address 10.0.0.300/31
          mtu 9216
        router bgp 1
          neighbor 10.0.0.1/99
        """)
    assert plain(found.broken) == [
        "2: ip address 10.0.0.300/31: expected an address with its length",
        "5: neighbor 10.0.0.1/99: '10.0.0.1/99' does not appear to be an IPv4 or IPv6 network",
    ]
    assert found.interfaces["Ethernet1/1"].mtu == parsed(9216, 3)


def test_a_banner_is_no_config() -> None:
    text = "banner motd ^line\ninterface Vlan1\n^\nhostname a\nbanner exec #one#\ninterface Vlan2\n"
    found = facts(text)
    assert (found.hostname, list(found.interfaces), found.unread) == (parsed("a", 4), ["Vlan2"], [])


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.parent.name)
def test_our_own_configs_are_read_whole(path: PurePath) -> None:
    text = located(path).read_text()
    found = read_device("device", "nxos", {FILE: text})
    assert found.name == path.parent.name
    assert (found.unread, found.broken, found.services.secrets) == ([], [], [])
    neighbors = list(found.neighbors())
    assert len(neighbors) == text.count("  neighbor ") > 0
    assert all(own.remote_as and own.families and own.hold_s for own in neighbors)
    assert len(found.interfaces) == text.count("\ninterface ") - text.count("\ninterface nve") - text.count("breakout module")
    lines = text.splitlines()
    for port in found.interfaces.values():
        assert all(parsed.value in lines[parsed.line - 1] for parsed in port.addresses)


def test_there_are_generated_configs() -> None:
    assert len(GENERATED) == 16


def test_border_gateways_of_a_site_share_an_address() -> None:
    found = facts("""\
        interface nve1
          source-interface loopback1
          multisite border-gateway interface loopback100
        interface loopback100
          ip address 10.2.100.21/32
    """).interfaces["loopback100"]
    assert (found.addresses, plain(found.gateways)) == ([], ["5: 10.2.100.21/32"])
