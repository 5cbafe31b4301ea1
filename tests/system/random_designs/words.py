"""Random values of keys whose type is just text: addresses, names, time zones, patterns."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fabric.model.plan import KINDS
from tests.system.random_designs.keys import Values

Draw = Callable[[random.Random], Any]

HOSTS = ("192.0.2.10", "192.0.2.11", "198.51.100.7", "2001:db8:53::1")
PREFIXES = ("10.255.0.0/16", "192.0.2.0/24", "198.51.100.128/25", "203.0.113.9/32", "2001:db8::/32")
LONG = "Authorized access only. All activity is logged and reviewed; disconnect now if you are not an authorized user."
BANNERS = (
    "No trespassing",
    'Site "dc1": authorized users',
    "100% monitored & logged; fine: $ 5",
    "Zutritt für Befugte",
    LONG,
)
LDAP = {
    "servers": "192.0.2.32",
    "base_dn": "dc=example,dc=net",
    "bind_dn": "cn=the switches,dc=example,dc=net",
    "port": 3389,
    "timeout_s": 8,
    "secret": "_ldap",
}
_IMAGE = {"file": "image.bin", "version": "1.0", "sha256": "0b7a" * 16}
DAY_ZERO = (
    {"server": "http://192.0.2.5"},
    {
        "server": "http://ztp.example.net:8080/dc1",
        "images": {"sonic": _IMAGE, "eos": {**_IMAGE, "extensions": [{"file": "more.swix", "sha256": "c41d" * 16}]}},
        "circuit_id": "{switch}:{port}",
    },
)
AAA = (
    {"tacacs": {"servers": ["192.0.2.30", "2001:db8:53::30"], "port": 4949, "timeout_s": 7, "secret": "T_KEY"}},
    {"radius": {"servers": "192.0.2.31", "port": 1645, "timeout_s": 9, "secret": "RADIUS"}, "login": ["radius", "local"]},
    {"ldap": LDAP},
    {"tacacs": {"servers": "192.0.2.30"}, "radius": {"servers": "192.0.2.31"}, "login": ["radius", "tacacs"]},
    {"tacacs": {"servers": "192.0.2.30"}, "accounting": "tacacs"},
)
RATIOS = (0.5, 1, 1, 1.5, 2, 3, 4)


def some(choices: tuple[Any, ...], most: int = 3) -> Draw:
    """A list of a few of them, or a single one that stands for a list."""

    def draw(rng: random.Random) -> Any:
        found = rng.sample(choices, rng.randint(1, min(most, len(choices))))
        return found[0] if len(found) == 1 and rng.random() < 0.5 else found

    return draw


def one(*choices: Any) -> Draw:
    return lambda rng: rng.choice(choices)


def _management(at: str) -> Values:
    return {
        f"{at}.ntp": some((*HOSTS[:3], "ntp1.example.net", "time")),
        f"{at}.syslog": some(HOSTS),
        f"{at}.dns": some(HOSTS),
        f"{at}.timezone": one("UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT-5"),
        f"{at}.allow": some(PREFIXES),
        f"{at}.snmp_user": one("monitoring", "noc1", "read-only"),
        f"{at}.banner": one(*BANNERS),
        f"{at}.aaa": one(*AAA),
        f"{at}.day_zero": one(*DAY_ZERO),
        f"{at}.secrets.admin": one("ADMIN_HASH", "_pw"),
        f"{at}.secrets.snmp_auth": one("SNMP_A", "auth_key"),
        f"{at}.secrets.snmp_priv": one("SNMP_P", "priv_key"),
    }


_UNDERLAY: Values = {
    "fabrics.NAME.underlay.mtu": one(9216, 9000, 9000, 9100, 9214, 4300, 1500),
    "fabrics.NAME.underlay.asn.ranges": one(
        "4200000000-4200009999", ["64512-64767", "65000-65400"], ["4210000000-4210000999", "4220000000-4220009999"]
    ),
    "fabrics.NAME.underlay.asn.width": one(2, 4, 4),
    "fabrics.NAME.underlay.bfd.interval_ms": one(50, 100, 150, 300, 1000, 60_000),
    "fabrics.NAME.underlay.bfd.multiplier": one(2, 3, 5, 50),
    "fabrics.NAME.underlay.keepalive_s": one(1, 2, 3),
    "fabrics.NAME.underlay.hold_s": one(9, 10, 30, 180),
    "fabrics.NAME.underlay.max_prefix": one(20_000, 100_000, 1_000_000),
}
_OVERLAY: Values = {
    "fabrics.NAME.overlay.route_servers": one(1, 2, 4, 64),
    "fabrics.NAME.overlay.rt_asn": one(1, 64_999, 65_534),
    "fabrics.NAME.overlay.anycast_mac": one("00:00:5e:00:01:02", "02:AA:bb:00:00:01", "44:38:39:ff:00:01"),
    "fabrics.NAME.overlay.l3vni_base": one(1, 5_001, 60_000, 16_700_000),
    "fabrics.NAME.overlay.l2vni_base": one(20_000, 1_000_000),
}
_QOS: Values = {
    "fabrics.NAME.qos.lossless_priority": one(1, 2, 3, 4, 5),
    "fabrics.NAME.qos.lossless_dscp": one(1, 24, 26, 30, 46, 63),
    "fabrics.NAME.qos.cnp_priority": one(6, 7, 7),
    "fabrics.NAME.qos.cnp_dscp": one(47, 48, 56),
    "fabrics.NAME.qos.ecn.kmin_bytes": one(50_000, 150_000, 1_000_000),
    "fabrics.NAME.qos.ecn.kmax_bytes": one(1_500_000, 3_000_000, 10_000_000),
    "fabrics.NAME.qos.lossless_percent": one(10, 33, 50, 80, 90),
}
_FLOOR: Values = {f"floor.media.{kind}": one("optics", "optics", "multimode", "single-mode", "aoc", "aec", "dac")
                  for kind in KINDS}  # fmt: skip
_LENGTHS: Values = {f"fabrics.NAME.topology.cable_length_m.{kind}": one(1, 2, 3, 7, 30, 100, 500)
                    for kind in KINDS}  # fmt: skip

_PANELS: Values = {f"fabrics.NAME.topology.patch_panels.{kind}.ports": one(24, 48, 144, 288) for kind in KINDS[2:4]}

TEXTS: Values = {
    **_management("management"),
    **_management("fabrics.NAME.management"),
    **_UNDERLAY,
    **_OVERLAY,
    **_QOS,
    **_FLOOR,
    **_LENGTHS,
    **_PANELS,
    "floor.rack_units": one(24, 42, 48, 52),
    "floor.rack_power_max_w": one(15_000, 45_000, 140_000),
}

# Patterns that tell switches apart in every shape; others, such as {rail}, depend on the kind of fabric.
SWITCH_NAMES = {
    role: (f"{{fabric}}-{role}{{n:02}}", f"{{site}}-{{fabric}}-{role}-{{n}}", "{fabric}.{role}.{n:04}")
    for role in ("leaf", "spine", "core")
}
KIND_NAMES = {
    "rack": ("{fabric}-u{unit}-leaf{n:02}", "{fabric}-p{pod}-leaf{n:03}"),
    "rail-optimized": ("{fabric}-r{rail}-leaf{n:02}", "{fabric}-pl{plane}-u{unit:02}-leaf{n}"),
    "rail-only": ("{fabric}-r{rail}-leaf{n:02}",),
    "collapsed": ("{fabric}-leaf-{n}",),
}
SERVER_NAMES = ("{group}-{n:04}", "{group}{n}", "{site}-{group}-n{n:02}")

SILENCED = ("FAB182", "FAB192", "FAB199", "FAB234", "FAB235", "FAB239", "FAB283")
COMMENTS = {"eos": "! site line", "nxos": "! site line", "frr": "! site line", "sonic": "! site line", "junos": "# site line"}
TEMPLATES = {
    "eos": ("eos/device.j2",),
    "nxos": ("nxos/device.j2",),
    "frr": ("frr/frr.conf.j2", "frr/sysctl.conf.j2"),
    "sonic": ("sonic/frr.conf.j2",),
    "junos": ("junos/juniper.conf.j2",),
}
PATCHES: dict[str, tuple[str, dict[str, Any]]] = {
    "sonic": ("config_db.json", {"DEVICE_METADATA": {"localhost": {"deployment_id": "1"}}}),
    "cumulus": ("startup.yaml", {"system": {"timezone": "Europe/Paris"}}),
}
