"""The lossless class of RoCE: who pauses what, and how flows spread."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.audit.checks.design.family import NOUNS, FabricCheck, in_all, network_oses, switch_path
from fabric.audit.checks.design.roce import Ends, LosslessCheck, capable, ends, switches
from fabric.base.grouping import grouped
from fabric.model.plan import KINDS, LEAF, SERVER, SWITCH_ROLES, FabricLossless, FabricPlan
from fabric.model.settings.site import PURPOSES
from fabric.nos.target import target


class PfcAtBothEnds(LosslessCheck):
    """Compares PFC support of both ends of every link that carries the lossless class, server ports included.

    PAUSE works between two ports: if one end does not obey it or does not send it, packets of the lossless class are
    dropped, and RoCE retransmits whole windows (IEEE 802.1Qbb).
    """

    id = "FAB218"
    title = "Both ends of every lossless link support PFC"
    severity = ERROR
    example = "leaves with SONiC, spines with FRR on Linux, which has no PFC"
    remediation = "set `nos:` to a network OS with PFC on every tier, or set `qos: {enabled: false}`"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        from fabric.configs.hosts.facts import facts_of

        fabric, able = design.fabric, capable(design.fabric, "lossless")
        servers = facts_of(fabric).qos is not None
        for link in ends(fabric):
            does = [self._does(fabric, lossless, able, link, sort, servers) for sort in link.sorts]
            if does[0] == does[1]:
                continue
            ends_ = fabric.devices[fabric.links.a[link.first]].name, fabric.devices[fabric.links.b[link.first]].name
            got = f"PFC on {ends_[does.index(True)]}, but not on {ends_[does.index(False)]}{in_all(link.count, 'link')}"
            yield self.finding(design, ("qos",), f"{link.speed_gbps}G {KINDS[link.kind]} links: {got}")

    @staticmethod
    def _does(
        fabric: FabricPlan,
        lossless: FabricLossless,
        able: dict[str, bool],
        link: Ends,
        sort: tuple[str, str],
        servers: bool,
    ) -> bool:
        """Whether one end supports PFC; an attachment counts as supporting what its leaf does."""
        if sort[0] == SERVER:
            return servers
        if sort[0] not in SWITCH_ROLES:
            sort = link.sorts[1]
        entry = lossless.roles.get(sort)
        return able[sort[0]] and entry is not None and (link.speed_gbps, fabric.spec.lengths[link.kind].metres) in entry.ports


class OneLosslessPriority(LosslessCheck):
    """Compares the lossless and the CNP priority of every tier with the intent.

    Another lossless priority would pause traffic that must not stop. Congestion notifications (CNPs) are served first and
    never paused, since they end the congestion (DCQCN, Zhu et al., SIGCOMM 2015).
    """

    id = "FAB219"
    title = "Only the intended priority is lossless, and congestion notifications are never paused"
    severity = ERROR
    example = "`qos: {lossless_priority: 3, cnp_priority: 3}`"
    remediation = "set `qos: {lossless_priority: 3, cnp_priority: 6}`, the common values"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        request = design.fabric.spec.qos
        for key, entry in sorted(lossless.roles.items()):
            who, qos = switches(design.fabric, key), entry.qos
            if qos.priority != request.lossless_priority:
                text = f"{who}: expected lossless priority {request.lossless_priority}, got {qos.priority}"
                yield self.finding(design, ("qos", "lossless_priority"), text)
            if qos.cnp_priority != request.cnp_priority or qos.cnp_priority == qos.priority:
                paused = ", which is lossless" if qos.cnp_priority == qos.priority else ""
                text = f"{who}: expected CNP priority {request.cnp_priority}, got {qos.cnp_priority}{paused}"
                yield self.finding(design, ("qos", "cnp_priority"), text)


class Marks(LosslessCheck):
    """Compares the DSCPs of RoCE data and of congestion notifications on every tier.

    A switch classifies packets by DSCP (RFC 2474), so data and CNPs each need one value that all switches and servers
    share. A packet with another DSCP is best effort, and may be dropped.
    """

    id = "FAB220"
    title = "RoCE data and CNPs have different DSCPs that are the same on all tiers"
    severity = ERROR
    example = "`qos: {lossless_dscp: 26, cnp_dscp: 26}`"
    remediation = "set `qos: {lossless_dscp: 26, cnp_dscp: 48}`, the common values"

    def check(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        request = design.fabric.spec.qos
        for key, entry in sorted(lossless.roles.items()):
            who = switches(design.fabric, key)
            for name, stated, used in (
                ("lossless_dscp", request.lossless_dscp, entry.qos.dscp),
                ("cnp_dscp", request.cnp_dscp, entry.qos.cnp_dscp),
            ):
                if used != stated:
                    yield self.finding(design, ("qos", name), f"{who}: {name}: expected DSCP {stated}, got {used}")
            if entry.qos.dscp == entry.qos.cnp_dscp:
                text = f"{who}: RoCE data and CNPs have the same DSCP, {entry.qos.dscp}"
                yield self.finding(design, ("qos", "cnp_dscp"), text)


class BalancedByLoad(FabricCheck):
    """Compares the load-balancing mode of compute leaves with what their hardware supports.

    A training job has few flows, and each can fill a link: a hash places two of them on one uplink while another is idle,
    and the slowest flow sets the step time. Load-aware switches avoid that (Juniper and Arista call it DLB, NVIDIA
    adaptive routing). Where it has side effects, it is enabled only if the intent states it.
    """

    id = "FAB226"
    title = "Compute fabrics use load-aware path selection where their switches support it"
    severity = NOTE
    example = "`load_balancing: {mode: flow}` on leaves whose hardware supports DLB"
    remediation = "set `underlay: {load_balancing: {mode: dynamic}}`; `fabric vendors` lists the side effects"

    def check(self, design: Design) -> Iterator[Finding]:
        from fabric.configs.targets import balances_by_load, can_balance

        fabric = design.fabric
        if fabric.spec.purpose != "compute" or fabric.sizing.spines_built < 2:
            return
        nos = network_oses(fabric)[LEAF]
        if can_balance(fabric, nos, LEAF) and not balances_by_load(fabric, nos, LEAF):
            mode = fabric.spec.underlay.load_balancing.mode
            what = f"{switches(fabric, (LEAF, ''))} support load-aware path selection"
            text = f"{what}, but `mode: {mode}` selects a static hash"
            yield self.finding(design, ("underlay", "load_balancing"), text)


class LosslessWhereMeant(FabricCheck):
    """Compares the lossless class of a fabric with its purpose.

    PAUSE spreads: on a TCP network a lossless class has no benefit and lets one slow server stop the others. Frontend and
    out-of-band fabrics carry no RoCE.
    """

    id = "FAB227"
    title = "Only fabrics that carry RoCE have a lossless class"
    severity = WARNING
    example = "`purpose: frontend` with `qos: {enabled: true}`"
    remediation = "remove `qos: {enabled: true}`, or set `purpose: storage` or `purpose: compute` if the fabric carries RoCE"

    def check(self, design: Design) -> Iterator[Finding]:
        purpose = design.fabric.spec.purpose
        if design.fabric.lossless is not None and not PURPOSES[purpose].lossless:
            text = f"lossless class on a fabric with `purpose: {purpose}`, which carries no RoCE"
            yield self.finding(design, ("qos", "enabled"), text)


class PfcOnEveryTier(LosslessCheck):
    """Tests whether the network OS of every tier supports PFC and ECN.

    Without PFC and ECN, RoCE works until the first congestion; then packets are lost and NICs retransmit whole windows.
    One tier without PFC makes the whole fabric lossy. FRR on Linux has none.
    """

    id = "FAB228"
    title = "Every tier of a lossless fabric supports PFC"
    severity = WARNING
    example = "`nos: frr` on the spines of a fabric with `purpose: compute`"
    remediation = "set `nos:` to a network OS with PFC, or set `qos: {enabled: false}` if the fabric carries no RoCE"

    def check(self, design: Design) -> Iterator[Finding]:
        able, oses = capable(design.fabric, "lossless"), network_oses(design.fabric)
        unable = grouped(
            ((getattr(design.fabric.spec, role).switch, oses[role]), role)
            for role in sorted((role for role, can in able.items() if not can))
        )  # switch and network OS → roles
        for (switch, nos), roles in unable.items():
            who = f"{switch} {' and '.join(NOUNS[role] for role in roles)}"
            title = f"{target(nos).title} does not support" if nos else "no network OS with"
            text = f"{who}: {title} PFC and ECN, which RoCE needs"
            yield self.finding(design, switch_path(design, roles[0]), text)
