"""Takes out of a drawn design most of what its switches or network OSes cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fabric.nos.reading.values import is_address
from fabric.nos.target import target

if TYPE_CHECKING:
    from tests.system.random_designs.drawing import Part


def keep_able(part: Part, fabric: dict[str, Any]) -> None:
    """Drops most options that a switch or network OS of the fabric has not, and those that contradict each other."""
    underlay, qos, manage = fabric["underlay"], fabric["qos"], fabric.get("management", {})
    balancing, bfd = underlay.get("load_balancing", {}), underlay.get("bfd", {})
    if not part.can("hash_seed"):
        balancing.pop("seed", None)
    if not part.can("dynamic_balancing"):
        balancing.pop("mode", None)
    if "sonic" in part.systems.values():
        bfd |= {key: value for key, value in (("multiplier", 3), ("interval_ms", 300)) if key in bfd}
    if "nxos" in part.systems.values() and "interval_ms" in bfd:
        bfd["interval_ms"] = min(bfd["interval_ms"], 999)
    if underlay.get("asn", {}).get("width") == 2:
        underlay["asn"].pop("ranges", None)
    for key in ("load_balancing", "bfd"):
        if underlay.get(key) == {}:
            del underlay[key]
    if not part.can("lossless"):
        qos.pop("enabled", None)
    if not part.can("watchdog"):
        qos["pfc_watchdog"] = False
    if underlay.get("mtu", 9216) < 4300:
        qos["enabled"] = False
    if not part.can("lossless_memory"):
        qos.pop("lossless_memory_percent", None)
    keep_manageable([part], manage)


def keep_manageable(parts: Sequence[Part], management: dict[str, Any]) -> None:
    """The same for the management of these fabrics."""
    systems = {part.systems[role] for part in parts for role in part.models}
    if not all(part.can("gnmi") for part in parts):
        management.pop("gnmi", None)
    if "aaa" in management and not all(logs_in(nos, management["aaa"]) for nos in systems):
        del management["aaa"]
    if "junos" in systems and isinstance(named := management.get("ntp"), str | list):
        hosts = [host for host in ([named] if isinstance(named, str) else named) if is_address(host)]
        management |= {"ntp": hosts}
        if not hosts:
            del management["ntp"]


def logs_in(nos: str, aaa: Mapping[str, Any]) -> bool:
    """Whether a network OS takes these methods, their order and the accounting."""
    system = target(nos)
    able, limits = system.capabilities.table(), system.logins
    methods = [name for name in ("tacacs", "radius", "ldap") if name in aaa]
    combined = len(methods) == 1 or limits.combined
    return combined and all(able[name] for name in methods) and aaa.get("accounting") in (None, *limits.accounting)


def management_net(fabric: dict[str, Any], spare: str) -> str:
    """The first three bytes of a fabric's management pool, for addresses from 200; it gets `spare` where it states none."""
    pools = fabric.setdefault("pools", {})
    if "management" not in pools:
        pools["management"] = f"{spare}.0/24"
        fabric.setdefault("management", {})["gateway"] = f"{spare}.1"  # that of the site is in another pool
    pool = pools["management"]
    return str(pool if isinstance(pool, str) else pool[0]).rpartition(".")[0]


def put_in_planes(intent: dict[str, Any], fabric: dict[str, Any], planes: int) -> None:
    """As many planes, and as many ports of the NICs; what is stated port by port no longer fits."""
    fabric["topology"]["planes"] = planes
    servers = fabric["servers"] if isinstance(fabric["servers"], list) else [fabric["servers"]]
    for group in servers:
        group.pop("nic_breakout", None)
        nics = intent["catalog"]["servers"][group["model"]]["nics"][group.get("nics", fabric["purpose"])]
        nics["ports"] = planes
        if fabric["topology"]["kind"] == "collapsed":  # a pair in each plane
            nics["count"] += nics["count"] % 2
        for key in ("interfaces", "rdma_devices", "cages", "form"):
            nics.pop(key, None)
