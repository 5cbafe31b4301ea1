"""What NVUE says, in both dialects, as a file and as commands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from textwrap import dedent
from typing import Any

import pytest
import yaml

from fabric.model.facts import MANAGEMENT, Bgp, Ecn, Facts, Interface, Located, Neighbor, PortQos, Secret, Vni, Vrf
from fabric.nos.reading import read_device
from tests import ROOT
from tests.examples import located, paths
from tests.nos.classes import without_links
from tests.nos.undefined import undefined_in

FILE = "startup.yaml"
GENERATED = paths("ai-cumulus/configs/*/startup.yaml")
GOLDEN = sorted((ROOT / "tests/golden/render/cumulus").glob("*.yaml"))


def facts(text: str) -> Facts:
    return read_device("device", "cumulus", {FILE: dedent(text)})


def parsed(value: Any, line: int) -> Any:
    return Located(value, line, FILE)


def plain(found: Sequence[Located[str] | Located[Secret]]) -> list[str]:
    return [f"{own.line}: {own.value}" for own in found]


def values(found: Facts) -> Any:
    """All but the lines."""

    def bare(own: Any) -> Any:
        if isinstance(own, dict):
            return {key: bare(value) for key, value in own.items() if key not in ("line", "file", "statements", "texts")}
        return [bare(value) for value in own] if isinstance(own, list | tuple) else own

    return bare(asdict(found))


NEWER = """\
- header:
    model: sn5600
- set:
    interface:
      bond1:
        bond:
          member:
            swp3: {}
        bridge:
          domain:
            br_default:
              untagged: 100
              vlan:
                '100': {}
                200-201: {}
        evpn:
          multihoming:
            segment:
              local-id: 5
              mac-address: '02:00:00:00:00:01'
              state: enabled
        type: bond
      eth0:
        ipv4:
          address:
            172.16.0.1/24: {}
        type: eth
        vrf: mgmt
      lo:
        ipv4:
          address:
            10.0.0.1/32: {}
        ipv6:
          address:
            FD00::1/128: {}
      swp1:
        acl:
          RED:
            inbound: {}
        description: leaf1 swp49
        ipv4:
          address:
            10.1.0.0/31: {}
        link:
          mtu: 9216
          speed: 400G
          state:
            up: {}
        vrf: red
      swp1.11:
        base-interface: swp1
        type: sub
        vlan: 11
      swp2:
        link:
          state:
            down: {}
      swp3:
        bridge:
          domain:
            br_default:
              access: 7
      vlan100:
        ipv4:
          address:
            10.9.0.2/24: {}
          vrr:
            address:
              10.9.0.1/24: {}
            state: enabled
        type: svi
        vlan: 100
    acl:
      RED:
        type: ipv4
    vrf:
      red:
        loopback:
          ip:
            address:
              10.7.0.1/32: {}
"""


def test_interfaces() -> None:
    found = facts(NEWER)
    assert found.interfaces == {
        "bond1": Interface(
            name="bond1",
            line=5,
            file=FILE,
            access=parsed(100, 12),
            trunk=[parsed(100, 14), parsed(200, 15), parsed(201, 15)],
            esi=parsed("03:02:00:00:00:00:01:00:00:05", 19),
            election=parsed("preference", 19),
        ),
        "eth0": Interface(
            name="eth0", line=23, file=FILE, addresses=[parsed("172.16.0.1/24", 26)], vrf=parsed(MANAGEMENT, 28)
        ),
        "lo": Interface(name="lo", line=29, file=FILE, addresses=[parsed("10.0.0.1/32", 32), parsed("fd00::1/128", 35)]),
        "swp1": Interface(
            name="swp1",
            line=36,
            file=FILE,
            filters=[parsed("RED", 38)],
            description=parsed("leaf1 swp49", 40),
            addresses=[parsed("10.1.0.0/31", 43)],
            mtu=parsed(9216, 45),
            speed_gbps=parsed(400, 46),
            enabled=parsed(True, 48),
            vrf=parsed("red", 49),
        ),
        "swp1.11": Interface(name="swp1.11", line=50, file=FILE, mtu=parsed(9216, 45), tag=parsed(11, 53)),
        "swp2": Interface(name="swp2", line=54, file=FILE, enabled=parsed(False, 57)),
        "swp3": Interface(name="swp3", line=58, file=FILE, access=parsed(7, 62), bond=parsed("bond1", 8)),
        "vlan100": Interface(
            name="vlan100", line=63, file=FILE, addresses=[parsed("10.9.0.2/24", 66)], gateways=[parsed("10.9.0.1/24", 69)]
        ),
        "red": Interface(name="red", line=77, file=FILE, addresses=[parsed("10.7.0.1/32", 81)], vrf=parsed("red", 77)),
    }
    assert (found.unread, found.broken) == ([], [])


OLDER = """\
set:
  interface:
    swp1-2,swp9:
      ip:
        address:
          10.1.0.0/31: {}
        vrf: red
  vrf:
    red: {}
"""


def test_the_older_dialect_a_range_and_no_list() -> None:
    found = facts(OLDER).interfaces
    assert found == {
        name: Interface(name=name, line=3, file=FILE, addresses=[parsed("10.1.0.0/31", 6)], vrf=parsed("red", 7))
        for name in ("swp1", "swp2", "swp9")
    }


BGP = """\
router:
  bgp:
    autonomous-system: 65001
    router-id: 10.0.0.1
  policy:
    prefix-list:
      PL-IN:
        rule:
          '10':
            action: permit
            match:
              10.0.0.0/8:
                min-prefix-len: 24
                max-prefix-len: 32
          '20':
            action: deny
            match:
              0.0.0.0/0: {}
    route-map:
      RM-OUT: {}
interface:
  swp1: {}
  swp2: {ipv4: {address: {10.1.0.0/31: {}}}}
vrf:
  default:
    router:
      bgp:
        address-family:
          ipv4-unicast: {multipaths: {ebgp: 64}}
          ipv6-unicast: {multipaths: {ebgp: 32}}
        path-selection: {multipath: {aspath-ignore: 'on'}}
        dynamic-neighbor:
          listen-range:
            10.8.0.0/24:
              peer-group: FABRIC
        neighbor:
          swp1:
            type: unnumbered
            peer-group: FABRIC
          10.1.0.1:
            remote-as: 65003
            peer-group: FABRIC
            shutdown: 'on'
            timers: {hold: 30}
            address-family:
              ipv4-unicast: {enable: 'off'}
              l2vpn-evpn: {enable: 'on'}
        peer-group:
          FABRIC:
            remote-as: external
            local-as: {asn: 65009}
            description: fabric
            multihop-ttl: 2
            update-source: lo
            bfd: {enable: 'on'}
            timers: {keepalive: 3, hold: 9}
            address-family:
              ipv4-unicast:
                policy:
                  inbound: {prefix-list: PL-IN}
                  outbound: {route-map: {RM-OUT: {}}}
                prefix-limits: {inbound: {maximum: 100}}
                aspath: {allow-my-asn: {enable: 'on', occurrences: 2}}
  blue:
    router:
      bgp: {autonomous-system: 65010, neighbor: {FD00::2: {remote-as: 65011}}}
  gone:
    router:
      bgp: {enable: 'off', neighbor: {10.0.0.9: {remote-as: 1}}}
"""


def test_sessions_with_what_their_group_says() -> None:
    found = facts(BGP)
    group: dict[str, Any] = {
        "remote_as": parsed("external", 50),
        "local_as": parsed(65009, 51),
        "description": parsed("fabric", 52),
        "multihop": parsed(2, 53),
        "source": parsed("lo", 54),
        "bfd": parsed(True, 55),
        "keepalive_s": parsed(3, 56),
        "hold_s": parsed(9, 56),
    }
    of_ipv4: dict[str, Any] = {
        "max_prefix": parsed(100, 62),
        "import_filter": parsed("PL-IN", 60),
        "export_filter": parsed("RM-OUT", 61),
        "allowas_in": parsed(2, 63),
    }
    numbered = group | {"remote_as": parsed(65003, 41), "hold_s": parsed(30, 44), "enabled": parsed(False, 43)}
    assert found.bgp == {
        "": Bgp(
            vrf="",
            line=27,
            file=FILE,
            asn=parsed(65001, 3),
            router_id=parsed("10.0.0.1", 4),
            max_paths=parsed(32, 30),
            relax=parsed(True, 31),
            neighbors={
                "swp1": Neighbor(
                    vrf="", peer="swp1", line=37, file=FILE, families=[parsed("ipv4", 37)], interface=True, **group, **of_ipv4
                ),
                "10.1.0.1": Neighbor(vrf="", peer="10.1.0.1", line=40, file=FILE, families=[parsed("evpn", 47)], **numbered),
                "10.8.0.0/24": Neighbor(
                    vrf="",
                    peer="10.8.0.0/24",
                    line=34,
                    file=FILE,
                    families=[parsed("ipv4", 34)],
                    dynamic=True,
                    **group,
                    **of_ipv4,
                ),
            },
        ),
        "blue": Bgp(
            vrf="blue",
            line=66,
            file=FILE,
            asn=parsed(65010, 66),
            router_id=parsed("10.0.0.1", 4),
            neighbors={
                "fd00::2": Neighbor(
                    vrf="blue", peer="fd00::2", line=66, file=FILE, remote_as=parsed(65011, 66), families=[parsed("ipv4", 66)]
                ),
            },
        ),
    }
    assert (found.interfaces["swp1"].link_local, found.interfaces["swp2"].link_local) == (True, False)
    assert found.prefixes == {"PL-IN": [parsed("10.0.0.0/8 ge 24", 12)]}
    assert (found.unread, found.broken) == ([], [])


def test_overlay() -> None:
    found = facts("""\
        bridge:
          domain:
            br_default:
              vlan:
                '100': {vni: {'10100': {}}}
                10,20: {}
        evpn:
          enable: 'on'
          vni:
            '10100':
              rd: 10.0.0.1:100
              route-target:
                both: {65000:10100: {}}
            '10300': {}
        nve:
          vxlan:
            source: {address: 10.2.0.1}
        system:
          global: {fabric-mac: 00:00:5E:00:01:01}
        vrf:
          mgmt: {}
          red:
            evpn: {vni: {'50001': {}}}
            router:
              bgp:
                rd: '10.0.0.1:1'
                route-export: {to-evpn: {route-target: {'65000:50001': {}}}}
                route-import:
                  from-evpn:
                    route-target:
                      '65000:50001': {}
                      ANY:50002: {}
        """)
    assert found.vrfs == {
        "red": Vrf(
            name="red",
            line=22,
            file=FILE,
            vni=parsed(50001, 23),
            rd=parsed("10.0.0.1:1", 26),
            imports=[parsed("65000:50001", 31), parsed("*:50002", 32)],
            exports=[parsed("65000:50001", 27)],
        )
    }
    both = [parsed("65000:10100", 13)]
    assert found.vnis == {
        10100: Vni(
            number=10100,
            line=5,
            file=FILE,
            vlan=parsed(100, 5),
            rd=parsed("10.0.0.1:100", 11),
            imports=both,
            exports=both,
            tagged=parsed(False, 5),
        ),
        10300: Vni(number=10300, line=14, file=FILE, tagged=parsed(False, 14)),
    }
    assert (found.vtep, found.anycast_mac) == (parsed("10.2.0.1", 17), parsed("00:00:5e:00:01:01", 19))
    assert (found.unread, found.broken) == ([], [])


PROFILE = PortQos(
    priorities={code: parsed(code // 8, 9) for code in range(64)},
    pfc=[parsed(3, 9)],
    strict=[parsed(6, 9)],
    weights={0: parsed(50, 9), 3: parsed(50, 9)},
    ecn={n: Ecn(parsed(150_000, 9), parsed(1_500_000, 9), parsed(100, 9)) for n in (0, 3)},
)
ROCE = """\
interface:
  swp1: {{}}
  swp2: {{qos: {{pfc: {{profile: LONG}}, congestion-control: {{profile: MARK}}, pfc-watchdog: {{state: enable}}}}}}
  swp3: {{qos: {{pfc: {{profile: NONE}}, mapping: {{profile: BLIND}}}}}}
  eth0: {{}}
qos:
  pfc-watchdog: {{polling-interval: 200, robustness: 2}}
  roce:
    {roce}
  congestion-control:
    MARK:
      traffic-class:
        3: {{ecn: enable, min-threshold: 100000, max-threshold: 400 KB, probability: 5}}
        0: {{ecn: disable, min-threshold: 1, max-threshold: 2}}
  mapping:
    BLIND: {{trust: port}}
  pfc:
    LONG: {{cable-length: 40, port-buffer: 300000, xoff-threshold: 100000, switch-priority: {{'3': {{}}}}}}
    NONE: {{rx: disable, tx: disable, switch-priority: {{'3': {{}}}}}}
"""


@pytest.mark.parametrize("roce", ["state: enabled", "enable: 'on'"])
def test_the_profile_of_the_switch_and_those_of_ports(roce: str) -> None:
    found = facts(ROCE.format(roce=roce))
    ports = {name: without_links(port.qos) for name, port in found.interfaces.items()}
    assert ports["swp1"] == PROFILE
    assert ports["swp2"] == replace(
        PROFILE,
        pfc=[parsed(3, 18)],
        cable_length_m=parsed(40, 18),
        xoff_bytes={3: parsed(200_000, 18)},
        ecn={3: Ecn(parsed(100_000, 13), parsed(400_000, 13), parsed(5, 13))},
        watchdog=parsed(True, 3),
    )
    assert ports["swp3"] == replace(PROFILE, priorities={}, pfc=[])
    assert ports["eth0"] is None
    assert found.watchdog_ms == parsed(400, 7)
    assert found.unread == []


@pytest.mark.parametrize(
    ("breakout", "classes"),
    [("{4x: {lanes-per-port: '2'}}", False), ("4x", False), ("{disabled: {}}", False), ("{1x: {}}", True)],
)
def test_a_port_that_is_split_has_no_classes_of_its_own(breakout: str, classes: bool) -> None:
    found = facts(f"""\
        interface:
          swp1: {{link: {{breakout: {breakout}}}}}
          swp1s0: {{}}
        qos: {{roce: {{state: enabled}}}}
        """)
    assert {name: port.qos is not None for name, port in found.interfaces.items()} == {"swp1": classes, "swp1s0": True}
    assert found.unread == []


def test_without_the_profile_nothing_pauses() -> None:
    for text in ("state: disabled", "mode: lossy"):
        port = facts(ROCE.format(roce=text)).interfaces["swp1"].qos
        assert port is not None
        assert (port.pfc, port.priorities, port.ecn, port.weights) == ([], {}, {}, {})


def test_another_priority_in_front_of_the_same_class() -> None:
    found = (
        facts("""\
        interface: {swp1: {}}
        qos:
          roce: {state: enabled}
          mapping: {default-global: {dscp: {'24-26': {switch-priority: 0}, '27': {switch-priority: 4}}}}
          egress-queue-mapping: {default-global: {switch-priority: {'3': {traffic-class: 0}, '4': {traffic-class: 3}}}}
          pfc: {default-global: {switch-priority: {'4': {}}}}
          egress-scheduler:
            default-global:
              traffic-class:
                '0': {mode: dwrr, bw-percent: 40}
                '3': {mode: dwrr, bw-percent: 60}
                '6': {mode: strict}
        """)
        .interfaces["swp1"]
        .qos
    )
    assert found is not None
    assert (found.priorities[26], found.priorities[27], found.priorities[28]) == (parsed(0, 4), parsed(4, 4), parsed(3, 3))
    assert (found.pfc, found.strict) == ([parsed(4, 6)], [parsed(6, 12)])
    assert found.weights == {0: parsed(40, 10), 4: parsed(60, 11)}
    assert sorted(found.ecn) == [0, 4]


@pytest.mark.parametrize(
    "text",
    [
        """\
        system:
          hostname: leaf1
          ntp: {server: {10.0.0.1: {}}}
          dns: {server: {10.0.0.53: {vrf: mgmt}}}
          syslog: {server: {10.0.0.2: {}}}
          lldp: {state: disabled}
          control-plane: {acl: {acl-default-dos: {inbound: {}}}}
          forwarding: {hash-seed: 7}
          snmp-server: {readonly-community: {public: {access: any}}}
        """,
        """\
        system:
          hostname: leaf1
          control-plane: {acl: {acl-default-dos: {inbound: {}}}}
          forwarding: {hash-seed: 7}
          lldp: {enable: 'off'}
        service:
          ntp: {mgmt: {server: {10.0.0.1: {iburst: 'on'}}}}
          dns: {mgmt: {server: {10.0.0.53: {}}}}
          syslog: {mgmt: {server: {10.0.0.2: {port: 514}}}}
          snmp-server: {readonly-community: {public: {access: any}}}
        """,
    ],
    ids=["newer", "older"],
)
def test_services(text: str) -> None:
    found = facts(text)
    services = found.services
    assert (found.name, found.hash_seed and found.hash_seed.value) == ("leaf1", 7)
    assert [own[0].value for own in (services.ntp, services.dns, services.syslog)] == ["10.0.0.1", "10.0.0.53", "10.0.0.2"]
    assert (services.lldp and services.lldp.value, services.control_plane and services.control_plane.value) == (False, True)
    assert [own.value for own in services.plain_text] == ["SNMP community (read-only)"]
    assert [str(own.value) for own in services.secrets] == ["SNMP community, in clear text"]
    assert "public" not in repr(services)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("system: {aaa: {user: {admin: {hashed-password: $6$abc}}}}", ["1: password of user admin, as a salted hash"]),
        ("system: {aaa: {user: {admin: {hashed-password: '${HASH}'}}}}", []),
        ("system: {aaa: {user: {admin: {hashed-password: '*'}}}}", []),
        (
            "vrf: {red: {router: {bgp: {neighbor: {10.0.0.1: {password: abc}}}}}}",
            ["1: BGP password of 10.0.0.1, in clear text"],
        ),
        (
            "system: {snmp-server: {username: {u: {auth-sha: {abc: {encrypt-aes: {abcd: {}}}}}}}}",
            ["1: SNMP auth key of user u, in clear text", "1: SNMP priv key of user u, in clear text"],
        ),
        (
            "system: {aaa: {tacacs: {server: {'1': {host: 10.0.0.1, secret: abc}}}}}",
            ["1: key of tacacs server 1, in clear text"],
        ),
        (
            "system: {aaa: {ldap: {secret: $nvsec$abc}}}",
            ["1: key of ldap server, encrypted with a key that is not in the file"],
        ),
    ],
)
def test_secrets_are_named_and_never_reported(text: str, what: list[str]) -> None:
    found = facts(text)
    assert plain(found.services.secrets) == what
    assert "abc" not in repr(found)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("interface: {swp1: {vrf: red}}", "VRF red"),
        ("interface: {swp1: {ip: {vrf: default}}}", None),
        ("interface: {swp1: {acl: {RED: {inbound: {}}}}}", "ACL RED"),
        ("interface: {swp1: {qos: {pfc: {profile: LONG}}}}", "QoS profile LONG"),
        ("system: {control-plane: {acl: {acl-default-dos: {inbound: {}}, OWN: {inbound: {}}}}}", "ACL OWN"),
        ("vrf: {red: {router: {bgp: {neighbor: {swp1: {peer-group: A}}}}}}", "peer-group A"),
        ("vrf: {red: {router: {bgp: {neighbor: {swp1: {peer-group: A}}, peer-group: {A: {}}}}}}", None),
        (
            "vrf: {red: {router: {bgp: {neighbor: {swp1: {peer-group: A}}}}}, blue: {router: {bgp: {peer-group: {A: {}}}}}}",
            "peer-group A",
        ),
        ("vrf: {red: {router: {bgp: {peer-group: {A: {bfd: {profile: FAST}}}}}}}", "BFD profile FAST"),
        (
            "vrf: {red: {router: {bgp: {address-family: {ipv4-unicast: {redistribute: {connected: {route-map: RM}}}}}}}}",
            "route-map RM",
        ),
        ("router: {policy: {route-map: {RM: {rule: {'10': {match: {ip-prefix-list: PL}}}}}}}", "prefix-list PL"),
        (
            "vrf: {a: {router: {bgp: {peer-group: {B: {address-family: {c: {policy: {inbound: {prefix-list: PL}}}}}}}}}}",
            "prefix-list PL",
        ),
    ],
)
def test_names_that_nothing_defines(text: str, what: str | None) -> None:
    assert plain(undefined_in("cumulus", {FILE: dedent(text)})) == ([f"1: {what}"] if what else [])


def test_what_is_not_known_is_reported() -> None:
    found = facts("""\
        - set:
            interface:
              swp1:
                antigravity: 'on'
                link:
                  mtu: 9216
                  colour: {blue: {}, red: {}}
            vrf:
              default:
                router: {bgp: {neighbor: {swp1: {sings: loudly}}}}
            moon: {}
        - unset: {}
        """)
    assert plain(found.unread) == [
        "4: interface swp1 antigravity on",
        "7: interface swp1 link colour blue",
        "7: interface swp1 link colour red",
        "10: vrf default router bgp neighbor swp1 sings loudly",
        "11: moon",
        "12: unset: …",
    ]
    assert found.statements == 7


COMMANDS = """\
# as one types them
cumulus@leaf1:mgmt:~$ nv set system hostname leaf1
cumulus@leaf1:mgmt:~$ nv set interface lo ip address 10.0.0.1/32
nv set interface swp1-2,swp9 link mtu 9000
nv set interface swp2 link mtu 9216
nv set interface swp1 description 'to the spine'
nv set interface bond1 bond member swp9
nv set interface swp3 ip address 10.9.9.9/31
nv unset interface swp3
nv set router bgp autonomous-system 65104
nv set vrf default router bgp neighbor swp1-2 remote-as external
nv set vrf default router bgp neighbor swp1-2 address-family l2vpn-evpn enable on
nv set bridge domain br_default vlan 10,20
nv set bridge domain br_default vlan 10 vni 10010
nv set bridge domain br_default vlan 20 vni 10020
nv config apply
reboot
"""


def test_commands() -> None:
    found = facts(COMMANDS)
    assert found.hostname == parsed("leaf1", 2)
    assert found.interfaces == {
        "lo": Interface(name="lo", line=3, file=FILE, addresses=[parsed("10.0.0.1/32", 3)]),
        "swp1": Interface(
            name="swp1", line=4, file=FILE, mtu=parsed(9000, 4), description=parsed("to the spine", 6), link_local=True
        ),
        "swp2": Interface(name="swp2", line=4, file=FILE, mtu=parsed(9216, 5), link_local=True),
        "swp9": Interface(name="swp9", line=4, file=FILE, mtu=parsed(9000, 4), bond=parsed("bond1", 7)),
        "bond1": Interface(name="bond1", line=7, file=FILE),
    }
    session: dict[str, Any] = {
        "remote_as": parsed("external", 11),
        "families": [parsed("ipv4", 11), parsed("evpn", 12)],
        "interface": True,
    }
    assert found.bgp[""].neighbors == {
        name: Neighbor(vrf="", peer=name, line=11, file=FILE, **session) for name in ("swp1", "swp2")
    }
    assert {vni: own.vlan for vni, own in found.vnis.items()} == {10010: parsed(10, 13), 10020: parsed(20, 13)}
    assert plain(found.unread) == ["17: reboot"]


def commands(tree: Any, path: str = "nv set") -> list[str]:
    if isinstance(tree, dict) and tree:
        return [line for key, part in tree.items() for line in commands(part, f"{path} '{key}'")]
    return [path if isinstance(tree, dict) else f"{path} '{tree}'"]


@pytest.mark.parametrize("path", GENERATED[:7], ids=lambda path: path.parent.name)
def test_a_file_and_its_commands_say_the_same(path: PurePath) -> None:
    text = located(path).read_text()
    tree = yaml.load(text, Loader=yaml.BaseLoader)[0]["set"]
    assert values(facts("\n".join(commands(tree)))) == values(facts(text))


@pytest.mark.parametrize("name", ["evpn-border", "evpn-spine", "qos-leaf"])
def test_both_dialects_say_the_same(name: str) -> None:
    newer, older = (
        facts((ROOT / f"tests/golden/render/cumulus/{name}{release}.yaml").read_text()) for release in ("", "-5.14")
    )
    assert values(newer) == values(older)


@pytest.mark.parametrize("path", [*GENERATED, *GOLDEN], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_our_own_configs_are_read_whole(path: PurePath) -> None:
    text = located(path).read_text()
    found = read_device("device", "cumulus", {FILE: text})
    assert found.hostname is not None
    assert text.splitlines()[found.hostname.line - 1].strip() == f"hostname: {found.name}"
    assert (found.unread, found.broken, found.services.secrets) == ([], [], [])
    neighbors = list(found.neighbors())
    assert len(neighbors) == len(re.findall("type: (?:un)?numbered", text)) > 0
    assert all(own.remote_as and own.families and own.hold_s for own in neighbors)
    lines = text.splitlines()
    for port in found.interfaces.values():
        assert all(own.value.partition("/")[0].removesuffix("::") in lines[own.line - 1] for own in port.addresses)


def test_there_are_generated_configs() -> None:
    assert (len(GENERATED), len(GOLDEN)) == (16, 11)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("- set:\n    interface:\n      swp1: {\n", ["4: not YAML: did not find expected node content"]),
        ("- set: &a\n    interface: *a\n", ["2: an alias of YAML, which no network OS writes"]),
        ("? [a]\n: b\n", ["1: a key of YAML that is no name"]),
        (
            "- set:\n    interface:\n      swp1:\n        type: swp\n        vrf: red\n        type: swp\n",
            ["6: the key 'type' is in this block twice, first in line 4"],
        ),
        ("- set:\n    system: {hostname: a}\n- set:\n    interface: {swp1: {}}\n", []),  # one in each document of the list
        ("hello: world\n", ["1: no tree of NVUE: neither `set` nor one of its branches"]),
        ("system:\n  hostname: \x00a\n", ["2: not text: control characters"]),
        ("nv set interface 'swp1\n", ["1: not a command: nv set interface 'swp1"]),
        (
            "interface: {swp1: {ipv4: {address: {10.0.0.300/31: {}}}}}",
            ["1: 10.0.0.300/31: expected an address with its length"],
        ),
        (
            "\n".join(f"{' ' * at}a:" for at in range(100)),
            ["65: nested too deeply", "1: no tree of NVUE: neither `set` nor one of its branches"],
        ),
    ],
)
def test_what_cannot_be_read(text: str, why: list[str]) -> None:
    assert plain(facts(text).broken) == why


def test_a_broken_line_does_not_hide_the_others() -> None:
    found = facts(
        """\
        - set:
            interface:
              swp1:
                link: {mtu: 9000
              swp2:
                link: {mtu: 9216}
        """.replace("9000\n", "9000: ]\n")
    )
    assert [own.line for own in found.broken] == [4]
    assert found.interfaces["swp2"].mtu == parsed(9216, 6)


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("nv set system global fabric-id 11\nnv set system global anycast-id 3\n", "00:00:5e:00:01:0b"),
        ("nv set system global fabric-id 11\nnv set system global fabric-mac 00:00:5E:00:01:02\n", "00:00:5e:00:01:02"),
        ("nv set system global anycast-id 3\n", None),
    ],
)
def test_the_fabric_id_is_the_last_byte_of_the_mac_of_virtual_routers(commands: str, expected: str | None) -> None:
    found = read_device("leaf1", "cumulus", {"x.cfg": commands})
    assert (found.anycast_mac.value if found.anycast_mac else None) == expected
    assert found.unread == []


def test_a_tree_inside_the_answer_of_a_program() -> None:
    tree = '{"interface": {"swp1": {"ip": {"address": {"10.0.0.1/31": {}}}}}, "system": {"hostname": "leaf1"}}'
    found = facts(f'{{"changed": false, "message": {tree}}}')
    assert plain(found.broken) == []
    assert plain(found.interfaces["swp1"].addresses) == ["1: 10.0.0.1/31"]


@pytest.mark.parametrize(
    ("stated", "enabled"),
    [
        ("enable: off", False),
        ("enable: on", None),
        ("enable: off, shutdown: off", False),
        ("enable: on, shutdown: on", False),
    ],
)
def test_a_neighbor_is_switched_off_in_two_ways(stated: str, enabled: bool | None) -> None:
    found = facts(f"vrf: {{default: {{router: {{bgp: {{neighbor: {{swp1: {{type: unnumbered, {stated}}}}}}}}}}}}}\n")
    neighbor = found.bgp[""].neighbors["swp1"]
    assert (neighbor.enabled.value if neighbor.enabled else None) is enabled
    assert found.unread == []
