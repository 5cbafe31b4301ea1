"""FRR: `vtysh -c 'show … json'` of bgpd, zebra and bfdd, and `ip -j -s link`; SONiC and Cumulus Linux print the same.

Proven on FRR 8.4.4 in network namespaces. Source of the keys: FRRouting/frr bgpd/bgp_vty.c (summary, neighbors),
zebra/zebra_vxlan.c, zebra/zebra_vty.c, zebra/interface.c, bfdd/bfdd_vty.c, and tests/topotests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fabric.nos.lldp import first, rows, speed_gbps, text, up
from fabric.nos.state.readers import (
    Failed,
    StateReader,
    asn,
    counters,
    each,
    esi,
    family,
    hop as next_hop,
    number,
    vrf_name,
    whole,
)
from fabric.nos.state.records import (
    BGP,
    ERRORS,
    EVPN,
    INTERFACES,
    MULTIHOMING,
    ROUTES,
    Count,
    Counter,
    Family,
    Hop,
    Part,
    Peer,
    PortState,
    Segment,
    Vni,
)

_SUMMARY = re.compile(r"(?:ipv[46]|l2[Vv]pn).*")
_KERNEL = {"errors": Count.IN_ERRORS}
_KERNEL_OUT = {"errors": Count.OUT_ERRORS}

# --- BGP ------------------------------------------------------------------------------------------------------


def knows_summary(value: Any) -> bool:
    """`{"default": {"ipv4Unicast": {"peers": …}}}`, without the VRF, or one family alone."""
    return isinstance(value, dict) and any(True for _ in _summaries(value))


def _summaries(value: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(VRF, family, its table)."""
    if _is_table(value):
        yield vrf_name(text(value.get("vrfName"))), "", value
        return
    for name, entry in value.items():
        if not isinstance(entry, dict):
            continue
        if _SUMMARY.fullmatch(name) and _is_table(entry):
            yield vrf_name(text(entry.get("vrfName"))), family(name), entry
        else:
            for inner, table in entry.items():
                if _SUMMARY.fullmatch(inner) and isinstance(table, dict) and _is_table(table):
                    yield vrf_name(name), family(inner), table


def _is_table(value: dict[str, Any]) -> bool:
    return isinstance(value.get("peers"), dict) and "routerId" in value


def read_summary(value: dict[str, Any]) -> Part:
    peers = [
        _summary_peer(key, row, vrf, name, table)
        for vrf, name, table in _summaries(value)
        for key, row in table["peers"].items()
        if isinstance(row, dict)
    ]
    ids = {vrf: text(table.get("routerId")) for vrf, _, table in _summaries(value)}
    return Part(kinds={BGP}, lists={BGP}, peers=peers, router_ids=ids)


def _summary_peer(key: str, row: dict[str, Any], vrf: str, name: str, table: dict[str, Any]) -> Peer:
    state = text(row.get("state"))
    received = number(row.get("pfxRcd", row.get("prefixReceivedCount")))
    families = [Family(name, received, received)] if name and state == "Established" else []
    return Peer(
        key=key,
        vrf=vrf,
        state=state.partition(" ")[0].lower(),
        asn=asn(row.get("remoteAs")),
        local_asn=asn(row.get("localAs", table.get("as"))),
        families=families,
        limited="PfxCt" in state,
        shut="Admin" in state or text(row.get("peerState")) == "Admin",
    )


def knows_neighbors(value: Any) -> bool:
    return isinstance(value, dict) and any(True for _ in _neighbors(value))


def _neighbors(value: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(VRF, peer, its row); of `vrf all` the VRFs are the outer keys."""
    for key, entry in value.items():
        if not isinstance(entry, dict):
            continue
        if "bgpState" in entry:
            yield "", key, entry
        elif "vrfName" in entry:
            for peer, row in entry.items():
                if isinstance(row, dict) and "bgpState" in row:
                    yield vrf_name(key), peer, row


def read_neighbors(value: dict[str, Any]) -> Part:
    return Part(kinds={BGP}, peers=[_neighbor(*found) for found in _neighbors(value)])


def _neighbor(vrf: str, key: str, row: dict[str, Any]) -> Peer:
    infos = first(row.get("addressFamilyInfo"))
    reason = text(row.get("lastNotificationReason")) or text(row.get("lastResetDueTo"))
    bfd = first(row.get("peerBfdInfo"))
    state = text(row.get("bgpState")).lower()
    families = [
        Family(name, None, number(first(info).get("acceptedPrefixCounter")))
        for title, info in infos.items()
        if (name := family(title))
    ]
    return Peer(
        key=key,
        vrf=vrf,
        state=state,
        asn=asn(row.get("remoteAs")),
        local_asn=asn(row.get("localAs")),
        families=families if state == "established" else [],
        activated=frozenset(name for title in infos if (name := family(title))),
        reason="" if state == "established" else reason,
        limited=bool(row.get("prefixOverflow")) or any(first(info).get("prefixOverflow") for info in infos.values()),
        shut=bool(row.get("adminShutDown")),
        bfd=text(bfd.get("status")) == "Up" if bfd.get("status") else None,
    )


# --- BFD ------------------------------------------------------------------------------------------------------


def knows_bfd(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(r, dict) and "peer" in r and "diagnostic" in r for r in value)
    )


def read_bfd(value: list[dict[str, Any]]) -> Part:
    """A peer over a link-local address is known by its interface."""
    peers = [
        Peer(
            key=text(row.get("interface")) if text(row.get("peer")).startswith("fe80") else text(row["peer"]),
            vrf=vrf_name(text(row.get("vrf"))),
            bfd=text(row.get("status")) == "up",
        )
        for row in value
    ]
    return Part(peers=peers)


# --- EVPN -----------------------------------------------------------------------------------------------------


def knows_vnis(value: Any) -> bool:
    """A list, a mapping by VNI, or one VNI: releases of 2019 print one after the other without a list around them."""
    entries = _vni_rows(value)
    return bool(entries) and all(
        isinstance(row, dict) and "vni" in row and row.get("type") in ("L2", "L3") for row in entries
    )


def _vni_rows(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value] if "vni" in value else list(value.values())
    return value if isinstance(value, list) else []


def read_vnis(value: Any) -> Part:
    whole_list = not (isinstance(value, dict) and "vni" in value)
    return Part(kinds={EVPN}, lists={EVPN} if whole_list else set(), vnis=[_vni(row) for row in _vni_rows(value)])


def _vni(row: dict[str, Any]) -> Vni:
    layer3 = row["type"] == "L3"
    state = text(row.get("state"))
    return Vni(
        number=whole(row["vni"]),
        layer3=layer3,
        vrf=vrf_name(text(row.get("vrf", row.get("tenantVrf")))),
        source=text(row.get("localVtepIp" if layer3 else "vtepIp")),
        remotes=None if layer3 else _remotes(row),
        up=state == "Up" if state else None,
    )


def _remotes(row: dict[str, Any]) -> frozenset[str] | None:
    """Detail lists them under `numRemoteVteps` or `remoteVteps`, and leaves the key out where there are none."""
    found = row.get("remoteVteps", row.get("numRemoteVteps"))
    if isinstance(found, list):
        return frozenset(text(one.get("ip")) if isinstance(one, dict) else text(one) for one in found)
    if found is None or found == "n/a":
        return frozenset() if "vxlanInterface" in row else None
    return frozenset() if number(found) == 0 else None


def knows_targets(value: Any) -> bool:
    return isinstance(value, dict) and "advertiseAllVnis" in value


def read_targets(value: dict[str, Any]) -> Part:
    """VNIs that bgpd alone has, from its configuration, are left out: the kernel has no tunnel for them."""
    entries = [row for _, row in each(value) if "importRTs" in row and text(row.get("inKernel", "True")) == "True"]
    vnis = [
        Vni(
            number=whole(row.get("vni")),
            layer3=row.get("type") == "L3",
            vrf=vrf_name(text(row.get("vrf", row.get("tenantVrf")))),
            imports=frozenset(map(text, row["importRTs"])),
            exports=frozenset(map(text, row.get("exportRTs", ()))),
            rd=text(row.get("rd")),
        )
        for row in entries
    ]
    return Part(kinds={EVPN}, vnis=vnis)


# --- Ethernet segments ----------------------------------------------------------------------------------------


def knows_segments(value: Any) -> bool:
    """A list that is empty says nothing: many commands print it."""
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) and "esi" in row for row in value)


def read_segments(value: list[dict[str, Any]]) -> Part:
    """`show evpn es detail json` of zebra; without `detail` the state is not in it. Remote segments are left out."""
    found = [one for row in value if (one := _segment(row)) is not None]
    complete = all(isinstance(row.get("flags"), list) for row in value)
    return Part(kinds={MULTIHOMING}, lists={MULTIHOMING} if complete else frozenset(), segments=found)


def _segment(row: dict[str, Any]) -> Segment | None:
    """Flags: `local`, `remote`, `df` or `nonDF`, `operUp`; the VTEPs of an all-active segment are the other switches."""
    identifier, flags = esi(row.get("esi")), row.get("flags")
    if not identifier or not isinstance(flags, list) or "local" not in flags:
        return None
    detail = "vniCount" in row or "macCount" in row
    vteps = rows(row.get("vteps", [])) if "vteps" in row or detail else None
    return Segment(
        esi=identifier,
        interface=text(row.get("accessPort")),
        up="operUp" in flags if detail else None,
        peers=frozenset(text(vtep.get("vtep")) for vtep in vteps) if vteps is not None else None,
        forwarders=None,
        forwards="nonDF" not in flags if {"df", "nonDF"} & set(flags) else None,
        by_preference=any(text(vtep.get("dfAlgorithm")).startswith("preference") for vtep in vteps or ()),
    )


# --- interfaces -----------------------------------------------------------------------------------------------


def knows_interfaces(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(row, dict) and "administrativeStatus" in row for row in value.values())


def read_interfaces(value: dict[str, Any]) -> Part:
    ports = [_interface(name, row) for name, row in value.items() if isinstance(row, dict) and "administrativeStatus" in row]
    return Part(kinds={INTERFACES}, lists={INTERFACES}, ports=ports)


def _interface(name: str, row: dict[str, Any]) -> PortState:
    """`speed` is in Mb/s; virtual interfaces say 0 or 4294967295. One that is shut has no operational status."""
    shut = text(row.get("administrativeStatus")) == "down"
    state = False if shut else up(row.get("operationalStatus"))
    mtu = whole(row.get("mtu"))
    port = PortState(
        name=name, up=state, shut=shut, reason="", speed_gbps=speed_gbps(row.get("speed")) if state else 0, mtu=mtu
    )
    if not isinstance(row.get("ipAddresses"), list):
        return port
    return replace(port, addresses=frozenset(text(entry.get("address")) for entry in rows(row["ipAddresses"])))


def knows_links(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) and "ifname" in row for row in value)


def read_links(value: list[dict[str, Any]]) -> Part:
    """`ip -j -s link` of the kernel; `operstate` is unknown of virtual devices that are up."""
    ports: list[PortState] = []
    counts: list[Counter] = []
    counted = False
    for row in value:
        name = text(row["ifname"])
        shut = "UP" not in row.get("flags", ["UP"])
        state = text(row.get("operstate"))
        if state:
            ports.append(
                PortState(name=name, up=None if state == "UNKNOWN" else state == "UP", shut=shut, mtu=whole(row.get("mtu")))
            )
        stats = first(row.get("stats64", row.get("stats")))
        counted = counted or bool(stats)
        counts += counters(name, first(stats.get("rx")), _KERNEL)
        counts += counters(name, first(stats.get("rx")), {"crc_errors": Count.FCS})
        counts += counters(name, first(stats.get("tx")), _KERNEL_OUT)
    kinds = ({ERRORS} if counted else set()) | ({INTERFACES} if ports else set())
    return Part(kinds=kinds, ports=ports, counters=counts)


# --- routes ---------------------------------------------------------------------------------------------------


def knows_routes(value: Any) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    entry = next(iter(value.values()))
    return (
        isinstance(entry, list)
        and bool(entry)
        and isinstance(entry[0], dict)
        and "nexthops" in entry[0]
        and "prefix" in entry[0]
    )


def read_routes(value: dict[str, Any]) -> Part:
    tables: dict[str, dict[str, tuple[Hop, ...]]] = {}
    for prefix, entries in value.items():
        for entry in rows(entries):
            if not (entry.get("selected") or entry.get("destSelected") or entry.get("installed")):
                continue
            hops = tuple(_hops(entry))
            tables.setdefault(vrf_name(text(entry.get("vrfName"))), {}).setdefault(prefix, hops)
    return Part(kinds={ROUTES}, lists={ROUTES}, routes=tables)


def _hops(entry: Mapping[str, Any]) -> Iterator[Hop]:
    for hop in rows(entry.get("nexthops") or []):
        if hop.get("fib", hop.get("active")) and not hop.get("duplicate"):
            yield next_hop(text(hop.get("ip")), text(hop.get("interfaceName")))


READERS = (
    StateReader("frr", "show bgp vrf all summary json", knows_summary, read_summary),
    StateReader("frr", "show bgp vrf all neighbors json", knows_neighbors, read_neighbors),
    StateReader("frr", "show bfd peers json", knows_bfd, read_bfd),
    StateReader("frr", "show evpn vni detail json", knows_vnis, read_vnis),
    StateReader("frr", "show bgp l2vpn evpn vni json", knows_targets, read_targets),
    StateReader("frr", "show evpn es detail json", knows_segments, read_segments),
    StateReader("frr", "show interface json", knows_interfaces, read_interfaces),
    StateReader("frr", "show ip route vrf all json, show ipv6 route json", knows_routes, read_routes),
    StateReader("frr", "ip -j -s link", knows_links, read_links),
)
FAILED = (Failed(re.compile(r"(?<![a-z0-9])([a-z0-9]+d) is not running")),)
