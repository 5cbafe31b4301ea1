"""Ports, bonds, subinterfaces and SVIs as NVUE's `interface` tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

from fabric.model.plan import Lag, Network, Port, PortRef, Subinterface, SwitchView
from fabric.nos.cumulus.write.tree import ENABLE, Tree, addressed, keys, merged
from fabric.nos.target import description, port_lanes

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import Marking, Qos


# --- Lossless classes: the RoCE profile, and what differs from it ---------------------------------------------

BEST_EFFORT, LOSSLESS, CNP = 0, 3, 6  # traffic classes of the profile
STORAGE = 4  # traffic class beside them
PROFILE = (3, 26, 6, 48)  # priority and DSCP of data, priority and DSCP of notifications
EVEN = 50  # percent of the wire for data and for best effort
POLL_MS = (100, 5000)
NO_PFC, UNTRUSTED = "NO-PFC", "UNTRUSTED"


def qos(view: SwitchView) -> Tree:
    planned, names = view.qos, marking_names(view)
    if planned is None or not names:
        return {}
    tree = merged(
        {"roce": {ENABLE: True, "mode": "lossless"}},
        classes(planned),
        weights(planned),
        memory(planned),
        flow_control(view, planned),
        marking(names, (LOSSLESS, STORAGE)[: len(planned.paused)]),
        pools(planned),
    )
    if planned.watchdog:
        poll = min(max(planned.watchdog.poll_ms, POLL_MS[0]), POLL_MS[1])
        # The watchdog restores a queue after the first interval without a pause frame, so no time is configured.
        tree["pfc-watchdog"] = {"polling-interval": poll, "robustness": max(1, ceil(planned.watchdog.detect_ms / poll))}
    return {"qos": tree}


def port_qos(view: SwitchView, port: Port, names: Mapping[Marking, str]) -> Tree:
    """What one port takes of it. Profiles are bound to physical ports, members of a bond included."""
    if view.qos is None or not names:
        return {}
    if port.lossless is None:
        untrusted = {} if port.trusted else {"mapping": {"profile": UNTRUSTED}}
        return {"qos": {"pfc": {"profile": NO_PFC}, **untrusted}}
    tree: Tree = {
        "pfc": {"profile": cable_profile(view.qos, port)},
        "congestion-control": {"profile": names[port.lossless.marking]},
    }
    if view.qos.watchdog:
        tree["pfc-watchdog"] = {"state": "enable"}
    return {"qos": tree}


def classes(planned: Qos) -> Tree:
    """DSCP to priority to queue, where they are not the profile's.

    Then every DSCP is configured whose block of eight maps to one of the two classes: only the chosen two belong there.
    """
    storage = planned.storage
    if (planned.priority, planned.dscp, planned.cnp_priority, planned.cnp_dscp) == PROFILE and storage is None:
        return {}
    special = {planned.priority, planned.cnp_priority} | ({storage.priority} if storage else set())
    priorities = {code: 0 if code // 8 in special else code // 8 for code in range(64)}
    priorities |= {planned.dscp: planned.priority, planned.cnp_dscp: planned.cnp_priority}
    priorities |= {storage.dscp: storage.priority} if storage else {}
    dscp = {str(code): {"switch-priority": level} for code, level in priorities.items() if level != code // 8}
    was = {3: LOSSLESS, 6: CNP}
    now = {planned.priority: LOSSLESS, planned.cnp_priority: CNP} | ({storage.priority: STORAGE} if storage else {})
    queues = {
        str(level): {"traffic-class": now.get(level, BEST_EFFORT)}
        for level in range(8)
        if now.get(level, BEST_EFFORT) != was.get(level, BEST_EFFORT)
    }
    return {
        "mapping": {"default-global": {"trust": "both", "dscp": dscp}},
        **({"egress-queue-mapping": {"default-global": {"switch-priority": queues}}} if queues else {}),
        "pfc": {"default-global": {"switch-priority": keys(planned.paused)}},
    }


def weights(own: Qos) -> Tree:
    if own.lossless_percent == EVEN and own.storage is None:
        return {}
    classes = {
        str(BEST_EFFORT): {"mode": "dwrr", "bw-percent": own.lossy_percent},
        str(LOSSLESS): {"mode": "dwrr", "bw-percent": own.lossless_percent},
        str(CNP): {"mode": "strict"},
    }
    if own.storage:
        classes[str(STORAGE)] = {"mode": "dwrr", "bw-percent": own.storage.percent}
    return {"egress-scheduler": {"default-global": {"traffic-class": classes}}}


def memory(own: Qos) -> Tree:
    """The two pools of the profile, which has half of the shared buffer for each."""
    if not own.memory_percent:
        return {}
    shares = {"default-lossy": 100 - own.memory_percent, "roce-lossless": own.memory_percent}
    return {"traffic-pool": {pool: {"memory-percent": share} for pool, share in shares.items()}}


def pools(own: Qos) -> Tree:
    """Which priorities have which of the two pools, where more than that of the profile is lossless."""
    if len(own.paused) == 1:
        return {}
    lossy = [priority for priority in range(8) if priority not in own.paused]
    shares = {"default-lossy": lossy, "roce-lossless": own.paused}
    return {"traffic-pool": {pool: {"switch-priority": keys(priorities)} for pool, priorities in shares.items()}}


def cable_profile(own: Qos, port: Port) -> str:
    """`ROCE-5M`, and where storage has a class of its own `STORAGE-5M` and `ROCE-STORAGE-5M`."""
    priorities = own.of(port.lossless) if port.lossless else ()
    names = [name for name, priority in zip(("ROCE", "STORAGE"), own.paused, strict=False) if priority in priorities]
    return f"{'-'.join(names)}-{max(1, port.length_m)}M"


def flow_control(view: SwitchView, qos: Qos) -> Tree:
    """A profile per length of cable: the switch works out the headroom of the chip and the speed from it."""
    priority = {"switch-priority": keys(qos.paused)}
    on, off = {"rx": "enable", "tx": "enable"}, {"rx": "disable", "tx": "disable"}
    profiles: Tree = {
        cable_profile(qos, port): {"switch-priority": keys(qos.of(port.lossless))}
        | on
        | {"cable-length": max(1, port.length_m)}
        for port in view.ports
        if port.up and port.lossless
    }
    if all(port.lossless for port in view.ports if port.up):
        return {"pfc": profiles}
    untrusted = {UNTRUSTED: {"trust": "port", "port-default-sp": 0}}
    return {"pfc": profiles | {NO_PFC: priority | off}, "mapping": untrusted}


def marking_names(view: SwitchView) -> dict[Marking, str]:
    """A profile per set of thresholds: `ROCE` when all ports have the same, else by the speeds that have them."""
    if view.qos is None:
        return {}
    speeds: dict[Marking, set[int]] = {}
    for port in view.ports:
        if port.up and port.lossless:
            speeds.setdefault(port.lossless.marking, set()).add(port.ref.speed_gbps)
    if len(speeds) == 1:
        return dict.fromkeys(speeds, "ROCE")
    names: dict[Marking, str] = {}
    for mark, rates in speeds.items():
        name = "-".join(["ROCE", *(f"{speed}G" for speed in sorted(rates))])
        names[mark] = name if name not in names.values() else f"{name}-{len(names) + 1}"
    return names


def marking(names: Mapping[Marking, str], classes: Sequence[int]) -> Tree:
    """Marks, and never drops; notifications lie in a class of their own, which has no profile."""
    profiles = {
        name: {
            "traffic-class": {
                str(number): {
                    "ecn": "enable",
                    "red": "disable",
                    "min-threshold": mark.kmin_bytes,
                    "max-threshold": mark.kmax_bytes,
                    "probability": max(1, mark.pmax_percent),
                }
                for number in classes
            }
        }
        for mark, name in names.items()
    }
    return {"congestion-control": profiles}


# --- Interfaces -----------------------------------------------------------------------------------------------

BRIDGE = "br_default"
UP: Tree = {"state": {"up": {}}}
DOWN: Tree = {"state": {"down": {}}}
# The leaf with this preference stays forwarder after a restart; 32767 is the default.
PREFERRED, OTHER = 50_000, 32_767
ADAPTIVE_GBPS = (200, 400)  # ports of Spectrum-4 with adaptive routing; it has none at 800G


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`swp1`, `swp1s0`: sub-ports count from 0."""
    return f"swp{ref.cage}" if ref.split == 1 else f"swp{ref.cage}s{ref.sub}"


def name_of(view: SwitchView, ref: PortRef) -> str:
    return port_name(view.model, ref)


def acl_name(tenant: str) -> str:
    return f"TENANT-{tenant}"


def multihomed(view: SwitchView) -> bool:
    """Every leaf with a layer-2 network, bonds or none: one without it would flood a frame to both ends of a bond."""
    return bool(view.networks and view.overlay) and "multihoming" not in view.model.lacks


def interfaces(view: SwitchView) -> Tree:
    """Everything under `interface` but the management port."""
    adaptive, marks = adaptive_ports(view), marking_names(view)
    tree = merged(breakouts(view), {"lo": loopback(view)})
    for port in view.ports:
        name = name_of(view, port.ref)
        tree[name] = physical(view, port)
        if port.up:
            extra = {"router": {"adaptive-routing": {ENABLE: True}}} if port.ref in adaptive else {}
            tree[name] = merged(tree[name], port_qos(view, port, marks), extra)
            tree |= {f"{name}.{part.tag}": subinterface(view, port, part) for part in port.subinterfaces}
    for external in view.externals:
        name = name_of(view, external.port.ref)
        if external.tag == 0:
            tree[name] = merged(tree[name], addressed(external.address))
        else:
            part = Subinterface(external.vrf, external.tag, external.address, external.peer_address)
            tree[f"{name}.{external.tag}"] = subinterface(view, external.port, part)
    tree |= {f"bond{lag.number}": bond(view, lag) for lag in view.lags}
    tree |= {f"vlan{network.vlan}": svi(view, network) for network in view.networks if network.gateway}
    return {"interface": tree}


def breakouts(view: SwitchView) -> Tree:
    """A replaced configuration forgets every split that it does not name, so unused cages say theirs as well."""
    tree: Tree = {}
    for port in view.ports:
        ref = port.ref
        if ref.split > 1:
            split = {"breakout": {f"{ref.split}x": {"lanes-per-port": str(port_lanes(view.model, ref))}}}
            tree[f"swp{ref.cage}"] = {"type": "swp", "link": split}
    return tree | {f"swp{cage}": {"type": "swp", "link": {"breakout": {"disabled": {}}}} for cage in view.disabled}


def loopback(view: SwitchView) -> Tree:
    """Router id first, VTEP beside it: NVUE has one loopback in a VRF."""
    addresses = [view.loopback, view.loopback6, f"{view.overlay.vtep}/32" if view.overlay and view.overlay.vtep else None]
    return merged({"type": "loopback"}, *(addressed(address) for address in addresses if address))


def physical(view: SwitchView, port: Port) -> Tree:
    tree: Tree = {"type": "swp", "description": description(view, port)}
    if not port.up:
        return merged(tree, {"link": DOWN})
    parts: list[Tree] = [{"link": UP | speed(view, port.ref)}]
    if port.lag:  # all other settings are on the bond
        return merged(tree, *parts)
    parts.append({"link": {"mtu": mtu(view, port)}})
    if port.bridged:
        parts.append(bridged(port.untagged, port.tagged))
    if port.address:
        parts.append(addressed(port.address))
    if port.vrf:
        parts.append({"vrf": port.vrf})
    if port.acl:
        parts.append({"acl": {acl_name(port.acl): {"inbound": {}}}})
    if port.kind == "fabric" and multihomed(view):
        parts.append({"evpn": {"multihoming": {"uplink": True}}})
    return merged(tree, *parts)


def speed(view: SwitchView, ref: PortRef) -> Tree:
    """Configured only where it differs from the default speed of the cage or of its share."""
    own = view.model.group_of(ref.cage).speed_gbps // ref.split
    return {} if ref.speed_gbps == own else {"speed": f"{ref.speed_gbps}G"}


def mtu(view: SwitchView, port: Port) -> int:
    """The VXLAN header is added to a tenant's packet, so the MTU of its ports is lower."""
    tenant = view.overlay is not None and (port.vrf or port.bridged)
    return view.overlay.mtu if tenant and view.overlay is not None else view.underlay.mtu


def subinterface(view: SwitchView, port: Port, part: Subinterface) -> Tree:
    tree: Tree = {"type": "sub", "base-interface": name_of(view, port.ref), "vlan": part.tag}
    vrf = {"vrf": part.vrf} if part.vrf else {}
    tenant = {"link": {"mtu": view.overlay.mtu}} if part.vrf and view.overlay else {}
    return merged(tree, vrf, tenant, addressed(part.address))


def bridged(untagged: int, tagged: tuple[int, ...], *, edge: bool = True) -> Tree:
    """An edge port of the bridge: servers do not speak spanning tree, and one that does is shut."""
    stp: Tree = {"stp": {"admin-edge": True, "bpdu-guard": True}} if edge else {}
    if tagged:
        member: Tree = {"untagged": untagged or "none", "vlan": keys(sorted({untagged, *tagged} - {0}))}
    else:
        member = {"access": untagged}
    return {"bridge": {"domain": {BRIDGE: merged(member, stp)}}}


def bond(view: SwitchView, lag: Lag) -> Tree:
    segment = {
        ENABLE: True,
        "local-id": lag.number,
        "mac-address": lag.system_mac,
        "df-preference": PREFERRED if lag.preferred else OTHER,
    }
    tree: Tree = {
        "type": "bond",
        "description": lag.description,
        "bond": {
            "mode": "lacp",
            "member": keys(name_of(view, ref) for ref in lag.ports),
            **({"lacp-bypass": True} if lag.fallback else {}),
        },
        **({"evpn": {"multihoming": {"segment": segment}}} if lag.esi else {}),
        "link": UP | {"mtu": view.overlay.mtu if view.overlay else view.underlay.mtu},
    }
    return merged(tree, bridged(lag.untagged, lag.tagged, edge=lag.edge))


def svi(view: SwitchView, network: Network) -> Tree:
    """VRR: the gateway's address is every leaf's, and each has one of its own beside it."""
    gateway, own = network.gateway, network.own_address
    if gateway is None or own is None:
        raise ValueError(f"{view.device.name}: the gateway of {network.name} needs an address of this leaf beside it")
    vrr = {ENABLE: True, "vrr-state": {"up": {}}, "address": {gateway: {}}}
    tree: Tree = {"type": "svi", "vlan": network.vlan, "vrf": network.vrf}
    link = {"link": {"mtu": view.overlay.mtu}} if view.overlay else {}
    return merged(tree, link, addressed(own), {"ipv6" if ":" in gateway else "ipv4": {"vrr": vrr}})


def adaptive_ports(view: SwitchView) -> frozenset[PortRef]:
    """Ports that may spread by load: 200G and 400G, routed, in the default VRF, no subinterfaces.

    One port of an ECMP route without it would upset the others, so the ports to one tier have it together or not at all.
    """
    if not view.balancing.dynamic:
        return frozenset()
    fabric = [port for port in view.ports if port.kind == "fabric" and port.up and port.peer is not None]
    unfit = {port.peer.device.role for port in fabric if port.peer is not None and not _adapts(port)}
    return frozenset(port.ref for port in fabric if port.peer is not None and port.peer.device.role not in unfit)


def _adapts(port: Port) -> bool:
    return port.ref.speed_gbps in ADAPTIVE_GBPS and not (port.vrf or port.subinterfaces or port.bridged or port.lag)
