"""Settings of an intent that are impossible at any size, or that contradict each other."""

from __future__ import annotations

from fabric.base.diagnostics import Report
from fabric.base.text import plural
from fabric.design.intent.site import Fabric
from fabric.design.planner.hardware import how_to_state
from fabric.model.plan import FabricSpec, GroupSpec
from fabric.model.plan.spec import STORAGE


def check(spec: FabricSpec, intent: Fabric, report: Report) -> None:
    """Reports settings that are impossible at any size."""
    topology = intent.topology
    place = spec.at("topology")
    if len({tier.model.technology for tier in (spec.leaf, spec.spine, spec.core)}) > 1:
        report.error("FAB106", place, "the tiers mix Ethernet and InfiniBand switches", "use switches of one technology")
    if (spec.transport == "infiniband") == spec.ethernet:
        technology = "Ethernet" if spec.ethernet else "InfiniBand"
        hint = f"remove `transport`, or choose {'InfiniBand' if spec.ethernet else 'Ethernet'} switches"
        report.error("FAB106", spec.at("transport"), f"transport {spec.transport} on {technology} switches", hint)
    for index, group in enumerate(spec.groups):
        if not group.shared and not group.bare:
            _group_sanity(spec, index, group, report)
    if intent.planned is not None and intent.planned.servers is not None and len(spec.groups) > 1:
        report.error(
            "FAB109",
            spec.at("planned", "servers"),
            f"planned.servers: expected one group of servers, got {len(spec.groups)}",
            "set `planned:` in each group of `servers:`; `planned: {servers: …}` is for a single group",
        )
    if spec.kind == "rack" and topology.rails not in (None, 1):
        report.error(
            "FAB109",
            spec.at("topology", "rails"),
            f"rails: expected none on a `rack` fabric, got {topology.rails}",
            "all NICs of a rack's servers connect to its leaf; remove `rails`, or set `kind: rail-optimized`",
        )
    if spec.kind == "rail-only" and len({spec.rails(its) for its in spec.groups if not its.shared and not its.bare}) > 1:
        report.error("FAB109", spec.at("servers"), "rail-only: expected the same number of NICs per server in every group")
    _planes_active(spec, report)
    _rails_of_pods(spec, report)
    _bare_leaves(spec, report)
    _same_names(spec, report)
    for position, attachment in enumerate(topology.attachments):
        if attachment.speed_gbps is not None and attachment.speed_gbps not in spec.leaf.model.speeds:
            stating = how_to_state(spec, spec.leaf, attachment.speed_gbps, server_ports=True)
            report.error(
                "FAB132",
                spec.at("topology", "attachments", position, "speed_gbps"),
                f"attachment '{attachment.name}': expected a speed of the leaf ({spec.leaf.switch}), "
                f"got {attachment.speed_gbps}" + (", which is not known to the catalog" if stating else ""),
                stating or f"it supports {', '.join(map(str, spec.leaf.model.speeds))} Gb/s",
            )
    if not spec.ethernet:
        for path in (("nos",), *(("topology", role, "nos") for role in ("leaf", "spine", "core"))):
            if spec.stated(*path):
                report.error(
                    "FAB107",
                    spec.at(*path),
                    f"nos: expected none on an InfiniBand fabric ({spec.leaf.switch})",
                    "remove `nos`: the subnet manager configures the switches",
                )
    if topology.tiers == 2 and spec.kind != "collapsed":
        _no_third_tier(spec, report)
    if spec.kind == "collapsed" and topology.tiers != "auto":
        report.error("FAB109", spec.at("topology", "tiers"), "remove it: a collapsed-spine pair has one tier")
    if spec.kind == "collapsed" and spec.underlay.asn.scheme == "per-pair":
        message = "asn.scheme: expected one number per leaf in a collapsed-spine pair, whose leaves have sessions"
        report.error("FAB109", spec.at("underlay", "asn", "scheme"), message, "remove `scheme: per-pair`")
    _leaves_stated(spec, intent, report)
    _panels(spec, report)
    if spec.converged:
        _converged(spec, report)
    if spec.qos.storage is not None and not (spec.roce and spec.converged and _has_storage(spec)):
        report.error(
            "FAB109",
            spec.at("qos", "storage"),
            "qos.storage: expected storage NICs beside others on a fabric with a lossless class",
            "remove it: `lossless_priority` and `lossless_dscp` are the class of a fabric for storage alone",
        )


def _panels(spec: FabricSpec, report: Report) -> None:
    """Two ports of a panel for every link that it takes."""
    for kind, rule in spec.panels.items():
        if 2 * rule.links > rule.ports:
            report.error(
                "FAB109",
                spec.at("topology", "patch_panels", kind, "links"),
                f"patch_panels: expected at most {rule.ports // 2} links on a panel of {rule.ports} ports, got {rule.links}",
                "a link takes two ports; leave `links` out for a third of the ports",
            )


def _bare_leaves(spec: FabricSpec, report: Report) -> None:
    """Leaves without servers are whole pairs, one or two in every plane; a pair without spines and a rail have none."""
    bare = [group for group in spec.groups if group.bare]
    for at, group in enumerate(bare):
        width, place = spec.leaves_per_nic(group), spec.at("topology", "leaves_without_servers", at)
        if spec.kind == "rail-only" or (spec.kind == "collapsed" and (len(spec.groups) > 1 or group.bare != width)):
            expected = f"none beside servers in a `{spec.kind}` fabric"
            hint = "remove them, or use another `kind`"
            report.error("FAB109", place, f"leaves_without_servers: expected {expected}", hint)
        elif group.bare % width:
            report.error(
                "FAB109",
                place,
                f"leaves_without_servers: expected a multiple of {width} {group.name} leaves, got {group.bare}",
                "one in every plane; pairs with `dual_tor`, unless `paired: false`",
            )


def _has_storage(spec: FabricSpec) -> bool:
    """Whether NICs for storage are connected beside others."""
    purposes = {use.nics for group in spec.groups for use in group.uses}
    return STORAGE in purposes and len(purposes) > 1


def _leaves_stated(spec: FabricSpec, intent: Fabric, report: Report) -> None:
    """Own and shared leaves where they cannot be."""
    for index, servers in enumerate(intent.servers):
        if servers.leaves == "shared" and not index:
            report.error(
                "FAB109",
                spec.at("servers", index, "leaves"),
                "leaves: expected `own`: the first group of servers has the leaves that others share",
                "remove it",
            )
        if servers.leaves == "own" and index and spec.kind == "collapsed":
            report.error(
                "FAB109",
                spec.at("servers", index, "leaves"),
                "leaves: expected `shared`: a collapsed-spine pair has one pair",
            )


def _converged(spec: FabricSpec, report: Report) -> None:
    """NICs on free ports need as many ports in every isolated network, or they do not reach each other."""
    key = "planes" if spec.planes > 1 else "kind"
    for at, group in enumerate(spec.groups):
        for use in group.on_free_ports:
            if use.ports % spec.networks and spec.below is None:  # leaves below another fabric meet there
                report.error(
                    "FAB109",
                    spec.at("servers", at, "nics"),
                    f"NICs '{use.nics}' of {group.model}: expected ports in each of the {spec.networks} isolated networks of "
                    f"`{key}`, got {plural(use.ports, 'port')}",
                    f"a multiple of {spec.networks} ports, or a fabric of its own for these NICs",
                )


def _rails_of_pods(spec: FabricSpec, report: Report) -> None:
    """Pods of a part of the rails need leaves that serve one rail, and shared cores: every pod has as many rails."""
    pods = spec.constraints.pods
    if pods is None or pods.rails is None:
        return
    for group in spec.groups:
        rails = spec.rails(group)
        if spec.kind == "rail-optimized" and rails % pods.rails == 0:
            continue
        expected, hint = "a rail-optimized fabric", "remove `rails`, or set `kind: rail-optimized`"
        if spec.kind == "rail-optimized":
            expected, hint = f"a divisor of the {plural(rails, 'rail')} of {group.model}", "1: a pod for each rail"
        got = pods.rails if spec.kind == "rail-optimized" else f"`kind: {spec.kind}`"
        report.error("FAB109", spec.at("topology", "pods", "rails"), f"pods.rails: expected {expected}, got {got}", hint)


def _no_third_tier(spec: FabricSpec, report: Report) -> None:
    """Pods are joined by a third tier, so they are a mistake beside `tiers: 2`."""
    pods = spec.constraints.pods
    if pods is not None and (pods.count != 1 or pods.rails):
        report.error(
            "FAB109",
            spec.at("topology", "pods"),
            "pods: expected none with `tiers: 2`: pods need a third tier",
            "remove it, or set `tiers: 3`",
        )


def _same_names(spec: FabricSpec, report: Report) -> None:
    """Names of attachments, of tenants and of their networks are unique."""
    attachments, tenants = spec.attachments, spec.tenants
    lists: list[tuple[str, tuple[str, ...], list[str]]] = [
        ("attachment", ("topology", "attachments"), [attachment.name for attachment in attachments]),
        ("tenant", ("tenants",), [tenant.name for tenant in tenants]),
    ]
    for noun, path, names in lists:
        for at, name in enumerate(names):
            if name in names[:at]:
                where = spec.at(*path, at, "name")
                report.error("FAB138", where, f"duplicate {noun} '{name}'", "use a unique name for each")


def _planes_active(spec: FabricSpec, report: Report) -> None:
    """More planes in service than there are, and any number of a fabric that has one alone."""
    if spec.planes > 1 and spec.planes_active <= spec.planes:
        return
    if spec.stated("topology", "planes_active"):
        expected = f"1 to {spec.planes}, as `planes`" if spec.planes > 1 else "none on a fabric of one plane"
        hint = "state `planes` of the finished fabric, and with `planes_active` how many of them are in service"
        message = f"planes_active: expected {expected}, got {spec.planes_active}"
        report.error("FAB109", spec.at("topology", "planes_active"), message, hint)


def _ports_for_planes(spec: FabricSpec, group: GroupSpec) -> str:
    """Hint for NICs that have no port for each plane."""
    rule = "each plane takes the same number of ports of every NIC"
    if group.nic.ports > 1 or spec.planes not in (2, 4, 8):
        return rule
    split = "; or `model: ConnectX-8` with `speed_gbps: 800` and `cages`, which are split" if spec.planes == 2 else ""
    return f"{rule}: state `ports: {spec.planes}` of the NIC under `catalog.servers`{split}"


def _group_sanity(spec: FabricSpec, index: int, group: GroupSpec, report: Report) -> None:
    nic, model = group.nic, spec.at("servers", index, "model")
    ports = plural(nic.ports, "port")
    if nic.ports % spec.planes:
        where = spec.at("topology", "planes") if spec.stated("topology", "planes") else model
        report.error(
            "FAB109",
            where,
            f"planes: expected a divisor of the {ports} of a NIC of {group.model}, got {spec.planes}",
            _ports_for_planes(spec, group),
        )
    beside_pairs = any(its.nic.ports > 1 for its in spec.groups if not its.bare)  # a NIC of one port then has a single leaf
    if spec.dual_tor and nic.ports < 2 and not beside_pairs:
        report.error(
            "FAB109",
            spec.at("topology", "dual_tor"),
            f"dual_tor: expected NICs of two ports or more, got {ports} a NIC on {group.model}",
            "a NIC with one port connects to one leaf; with `kind: rail-optimized` each NIC has its own leaf",
        )
    if spec.kind == "collapsed" and nic.count * nic.ports // spec.planes % 2:
        each = " in each plane" if spec.planes > 1 else ""
        got = nic.count * nic.ports // spec.planes
        report.error("FAB109", model, f"a collapsed-spine pair needs an even number of server ports{each}, got {got}")
    if nic.count % spec.rails(group):
        report.error(
            "FAB109",
            spec.at("topology", "rails"),
            f"rails: expected a divisor of the {nic.count} NICs of {group.model}, got {spec.constraints.rails}",
            "each rail takes the same number of NICs of a server",
        )
    if group.unit_servers and group.per_rack and group.unit_servers % group.per_rack and spec.kind == "rack":
        several = len(spec.groups) > 1
        whole = max(1, group.unit_servers // group.per_rack) * group.per_rack
        report.error(
            "FAB109",
            spec.at("topology", "unit", "servers"),
            f"unit.servers: expected whole racks of {group.per_rack} servers{f' of {group.name}' if several else ''}, "
            f"got {group.unit_servers}",
            f"use a multiple of `per_rack`, such as {whole}"
            + (f", or state `unit: {{servers: {whole}}}` in the group `{group.name}` alone" if several else ""),
        )
