"""The lossless class of RoCE: who pauses what, and how flows spread."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.checks import ERROR, NOTE, WARNING, Design, Finding
from fabric.checks.design.family import NOUNS, FabricCheck, in_all, models, network_oses, switch_path
from fabric.checks.design.roce import Ends, LosslessCheck, capable, ends, switches
from fabric.grouping import grouped
from fabric.nos.target import target
from fabric.plan import KINDS, LEAF, SERVER, SWITCH_ROLES, FabricLossless, FabricPlan
from fabric.settings.purposes import PURPOSES


class PfcAtBothEnds(LosslessCheck):
    """PAUSE works between two ports: one end that does not obey it, or never sends it, drops what the other has promised to
    keep, and RoCE falls back to sending whole windows again (IEEE 802.1Qbb). That holds for the servers' ports as well."""

    id = "FAB218"
    title = "Both ends of every link of a lossless fabric do PFC"
    severity = ERROR
    remediation = "one network OS on all tiers that does PFC, or `qos: {enabled: false}`"

    def judge(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        from fabric.hosts.facts import facts_of

        fabric, able = design.fabric, capable(design.fabric, "lossless")
        servers = facts_of(fabric).qos is not None
        for link in ends(fabric):
            does = [self._does(fabric, lossless, able, link, sort, servers) for sort in link.sorts]
            if does[0] == does[1]:
                continue
            ends_ = fabric.devices[fabric.links.a[link.first]].name, fabric.devices[fabric.links.b[link.first]].name
            text = f"expected PFC at both ends of {link.speed_gbps}G {KINDS[link.kind]} links, got it on"
            got = f"{ends_[does.index(True)]} and not on {ends_[does.index(False)]}{in_all(link.count, 'link')}"
            yield self.say(design, ("qos",), f"{text} {got}")

    @staticmethod
    def _does(
        fabric: FabricPlan,
        lossless: FabricLossless,
        able: dict[str, bool],
        link: Ends,
        sort: tuple[str, str],
        servers: bool,
    ) -> bool:
        """Whether one end has what PFC needs; an attached box is taken to do as its leaf."""
        if sort[0] == SERVER:
            return servers
        if sort[0] not in SWITCH_ROLES:
            sort = link.sorts[1]
        entry = lossless.roles.get(sort)
        return able[sort[0]] and entry is not None and (link.speed_gbps, fabric.spec.lengths[link.kind].metres) in entry.ports


class OneLosslessPriority(LosslessCheck):
    """Exactly the priority that the intent names is paused, on every tier: another one would pause what nobody expects to
    stop. Congestion notifications are served first and never paused, since they are what ends the congestion (DCQCN, Zhu
    et al., SIGCOMM 2015)."""

    id = "FAB219"
    title = "One priority is lossless, the one that the intent names, and notifications are never paused"
    severity = ERROR
    remediation = "`qos: {lossless_priority: 3, cnp_priority: 6}` are usual"

    def judge(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        request = design.fabric.spec.qos
        for key, entry in sorted(lossless.roles.items()):
            who, qos = switches(design.fabric, key), entry.qos
            if qos.priority != request.lossless_priority:
                text = f"{who}: expected priority {request.lossless_priority} to be lossless, got {qos.priority}"
                yield self.say(design, ("qos", "lossless_priority"), text)
            if qos.cnp_priority != request.cnp_priority or qos.cnp_priority == qos.priority:
                paused = ", which is paused" if qos.cnp_priority == qos.priority else ""
                text = f"{who}: expected notifications in priority {request.cnp_priority}, got {qos.cnp_priority}{paused}"
                yield self.say(design, ("qos", "cnp_priority"), text)


class Marks(LosslessCheck):
    """A switch finds a packet's class by its DSCP (RFC 2474), so data and notifications have one each, the same on every
    tier and every server: a packet with another mark is best effort, and dropped."""

    id = "FAB220"
    title = "Data and notifications have DSCPs of their own, the same everywhere"
    severity = ERROR
    remediation = "`qos: {lossless_dscp: 26, cnp_dscp: 48}` are usual"

    def judge(self, design: Design) -> Iterator[Finding]:
        lossless = design.lossless
        request = design.fabric.spec.qos
        for key, entry in sorted(lossless.roles.items()):
            who = switches(design.fabric, key)
            for name, stated, used in (
                ("lossless_dscp", request.lossless_dscp, entry.qos.dscp),
                ("cnp_dscp", request.cnp_dscp, entry.qos.cnp_dscp),
            ):
                if used != stated:
                    yield self.say(design, ("qos", name), f"{who}: {name}: expected DSCP {stated}, got {used}")
            if entry.qos.dscp == entry.qos.cnp_dscp:
                text = f"{who}: expected two DSCPs, got {entry.qos.dscp} for data and for notifications"
                yield self.say(design, ("qos", "cnp_dscp"), text)


class BalancedByLoad(FabricCheck):
    """A training job has few flows and each fills a link: a hash puts two of them on one uplink while another idles, and the
    slowest flow times the step. Switches that choose by load avoid that (Juniper and Arista call it DLB, NVIDIA adaptive
    routing); where it has side effects it is done only when the intent asks."""

    id = "FAB226"
    title = "Compute fabrics spread flows by load where their switches can"
    severity = NOTE
    remediation = "`underlay: {load_balancing: {mode: dynamic}}`; `fabric vendors` says what it costs"

    def judge(self, design: Design) -> Iterator[Finding]:
        from fabric.configs.capabilities import balances_by_load

        fabric, hardware = design.fabric, models(design.fabric)
        if fabric.spec.purpose != "compute" or fabric.sizing.spines_built < 2:
            return
        able = capable(fabric, "dynamic_balancing")
        for role, nos in sorted(network_oses(fabric).items()):
            if role == LEAF and able[role] and not balances_by_load(fabric.spec, target(nos), hardware[role]):
                mode = fabric.spec.underlay.load_balancing.mode
                text = f"{switches(fabric, (role, ''))}: expected paths chosen by load, got a hash alone (mode {mode})"
                yield self.say(design, ("underlay", "load_balancing"), text)


class LosslessWhereMeant(FabricCheck):
    """PAUSE spreads: a lossless class on a network of TCP gains nothing and lets one slow server stop the others. Front ends
    and out-of-band networks carry no RoCE."""

    id = "FAB227"
    title = "Only fabrics that carry RoCE have a lossless class"
    severity = WARNING
    remediation = "leave `qos.enabled` out, or say what the fabric is for: `purpose: storage`"

    def judge(self, design: Design) -> Iterator[Finding]:
        purpose = design.fabric.spec.purpose
        if design.fabric.lossless is not None and not PURPOSES[purpose].lossless:
            text = f"expected no lossless class on a fabric of purpose {purpose}, got one"
            yield self.say(design, ("qos", "enabled"), text)


class PfcOnEveryTier(LosslessCheck):
    """RoCE on a fabric without PFC and ECN works until the first congestion, then loses packets, and NICs send whole windows
    again. A tier whose network OS has no PFC makes the whole fabric one that drops; FRR on Linux boxes has none."""

    id = "FAB228"
    title = "Every tier of a lossless fabric can do PFC"
    severity = WARNING
    remediation = "another `nos:` for these switches, or `qos: {enabled: false}` where the fabric carries no RoCE"

    def judge(self, design: Design) -> Iterator[Finding]:
        able, oses = capable(design.fabric, "lossless"), network_oses(design.fabric)
        unable = grouped(
            ((getattr(design.fabric.spec, role).switch, oses[role]), role)
            for role in sorted((role for role, can in able.items() if not can))
        )  # switch and network OS → roles
        for (switch, nos), roles in unable.items():
            who = ", ".join(NOUNS[role] for role in roles)
            title = target(nos).title if nos else "no network OS"
            text = f"{who} of {switch}: expected PFC and ECN for RoCE, got {title}, for which none is written"
            yield self.say(design, switch_path(design, roles[0]), text)
