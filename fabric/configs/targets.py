"""The network OS of each switch, checked against its model and against the features that its fabric requires."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Annotated, Any

from fabric.base.diagnostics import Diagnostic, Place, Report, nearest, one_of
from fabric.base.schemas.models import Count, Document, Text, described, json_key
from fabric.hardware import catalog
from fabric.model.plan import CORE, LEAF, SPINE, FabricPlan, FabricSpec, Plan, TierSpec
from fabric.model.plan.topology import KINDS, LEAF_LEAF, LEAF_SPINE, SPINE_CORE
from fabric.model.settings.services import LOCAL, METHODS, Aaa
from fabric.nos.target import Capabilities, LoginLimits, Target, target, target_names, targets

# --- Features that a fabric requires, and capabilities of its network OSes and switches -----------------------

EVERY = (LEAF, SPINE, CORE)
JUDGED = (  # keys of a fabric whose values `states` of a `values.yaml` has a statement for
    "underlay.bfd.interval_ms",
    "underlay.bfd.multiplier",
    "underlay.keepalive_s",
    "underlay.hold_s",
    "underlay.max_prefix",
    "overlay.anycast_mac",
)
WORDS = {
    "unnumbered": "unnumbered fabric links (RFC 8950)",
    "ipv6_underlay": "an IPv6 underlay",
    "vrf_lite": "tenants on tagged subinterfaces (VRF-lite)",
    "port_acl": "tenant isolation by filters on server ports",
    "l3vni": "tenants by EVPN type-5 routes (L3 VNI)",
    "l2vni": "layer-2 networks over EVPN (L2 VNI)",
    "multihoming": "server bonds across two leaves",
    "bond_fallback": "bonds that carry traffic before the server speaks LACP",
    "imports": "route imports between tenants of an overlay",
    "leaks": "route imports by prefix between tenants of an overlay",
    "external": "BGP sessions with external routers",
    "lossless": "a lossless class (PFC and ECN)",
    "storage_class": "a class for storage beside that of RoCE",
    "watchdog": "a PFC watchdog on every lossless port",
    "lossless_memory": "a share of the buffer for the lossless class",
    "hash_seed": "a hash seed per tier",
    "dynamic_balancing": "dynamic load balancing",
    "snmp": "SNMPv3",
    "gnmi": "gNMI over TLS",
    "tacacs": "logins by TACACS+",
    "radius": "logins by RADIUS",
    "ldap": "logins by LDAP",
    "dhcp_relay": "DHCP relay",
    "dhcp_relay_across": "DHCP relay to servers in the default table",
}


class VendorDocument(Document):
    """One network OS."""

    title: Text
    max_mtu: Count = json_key("of IP, bytes")
    releases: list[Text]
    capabilities: Capabilities
    switches: list[Text] = json_key("models of the catalog")
    lacking: dict[str, list[str]] = json_key("model → features that it lacks although its network OS has them")


VendorsDocument = Annotated[dict[str, VendorDocument], described("By network OS.")]
SHOWN = 3  # switches of a hint


@dataclass(frozen=True, slots=True)
class Need:
    """A feature that a fabric requires of some switches, and its place in the intent."""

    what: str  # a field of Capabilities
    roles: tuple[str, ...]
    place: Place
    of_model: bool = True  # False: only the OS must support it, as on a spine that only forwards EVPN routes
    beside: str = ""  # required only of switches with this capability


def needs(spec: FabricSpec) -> Iterator[Need]:
    """The required features that depend on model or network OS."""
    how = spec.isolation
    if spec.underlay.addressing in ("unnumbered", "ipv6"):
        capability = "unnumbered" if spec.underlay.addressing == "unnumbered" else "ipv6_underlay"
        yield Need(capability, EVERY, spec.at("underlay", "addressing"))
    if how == "evpn":
        yield Need("l3vni", (LEAF,), spec.at("overlay", "kind"))
        yield Need("l3vni", (SPINE, CORE), spec.at("overlay", "kind"), of_model=False)
    for index, tenant in enumerate(spec.tenants):
        if tenant.networks and how == "evpn":
            yield Need("l2vni", (LEAF,), spec.at("tenants", index, "networks"))
            if spec.bonds:
                yield Need("multihoming", (LEAF,), spec.at("tenants", index, "networks"))
        for n, relay in enumerate(network.dhcp_relay for network in tenant.networks):
            if relay is not None and how == "evpn":
                across = relay.tenant not in (None, tenant.name)
                place = spec.at("tenants", index, "networks", n, "dhcp_relay")
                yield Need("dhcp_relay_across" if across else "dhcp_relay", (LEAF,), place, of_model=False)
        if how == "bridged":
            yield Need("l2vni", (LEAF,), spec.at("below"), of_model=False)  # what knows VLANs and bonds
        for whole, capability in ((True, "imports"), (False, "leaks")) if how == "evpn" else ():
            places = [n for n, item in enumerate(tenant.imports) if (item.prefixes is None) == whole]
            if places:
                at = ("imports",) if whole else ("imports", places[0])
                yield Need(capability, (LEAF,), spec.at("tenants", index, *at))
    if how in ("vrf-lite", "acl"):
        roles = EVERY if how == "vrf-lite" else (LEAF,)
        yield Need("vrf_lite" if how == "vrf-lite" else "port_acl", roles, spec.at("overlay", "isolation"))
    for index, attachment in enumerate(spec.attachments):
        if attachment.external is not None:
            yield Need("external", (LEAF,), spec.at("topology", "attachments", index, "external"))
    if spec.roce and spec.qos.pfc_watchdog:
        path = ("qos", "pfc_watchdog")
        yield Need("watchdog", EVERY, spec.at(*(path if spec.stated(*path) else ("topology",))), beside="lossless")
    if spec.roce and spec.qos.lossless_memory_percent is not None:
        yield Need("lossless_memory", EVERY, spec.at("qos", "lossless_memory_percent"), beside="lossless")
    for index, group in enumerate(spec.groups):
        if any(use.fallback for use in group.uses):
            yield Need("bond_fallback", (LEAF,), spec.at("servers", index, "homing"))
    if spec.roce and spec.qos.storage is not None:
        yield Need("storage_class", EVERY, spec.at("qos", "storage"))
    if spec.qos.enabled:
        yield Need("lossless", EVERY, spec.at("qos", "enabled"))
    if spec.stated("underlay", "load_balancing", "seed"):
        yield Need("hash_seed", EVERY, spec.at("underlay", "load_balancing", "seed"))
    if spec.underlay.load_balancing.mode == "dynamic":
        yield Need("dynamic_balancing", EVERY, spec.at("underlay", "load_balancing", "mode"))
    manage = spec.own_management and spec.management
    for capability, setting in (("snmp", manage and manage.snmp_user), ("gnmi", manage and manage.gnmi)):
        if setting:
            yield Need(capability, EVERY, spec.at("management"))
    for method in METHODS if spec.management.aaa else ():
        if getattr(spec.management.aaa, method) is not None:
            yield Need(method, EVERY, _place(spec, f"management.aaa.{method}"))


def check_capabilities(
    specs: Mapping[str, FabricSpec],
    chosen: Mapping[str, Mapping[str, str]],
    report: Report,
    emulated: Collection[str] = (),
) -> None:
    """Refuses what a switch cannot do, with the place in the intent.

    Args:
        chosen: network OS by fabric and role.
        emulated: fields of Capabilities that need not be there.
    """
    for name, spec in specs.items():
        if not spec.ethernet:
            continue
        seen: set[tuple[str, str, str]] = set()
        for need in (need for need in needs(spec) if need.what not in emulated):
            for role in _there(spec, need.roles):
                tier: TierSpec = getattr(spec, role)
                nos = chosen[name][role]
                if nos and (need.what, nos, tier.switch) not in seen:
                    seen.add((need.what, nos, tier.switch))
                    _check(spec, need, target(nos), tier, report)
        _check_names(name, spec, chosen[name], report)
        _check_requests(name, spec, chosen[name], report)
        _check_releases(spec, chosen[name], report)


def _check(spec: FabricSpec, need: Need, nos: Target, tier: TierSpec, report: Report) -> None:
    if need.beside and not nos.can(tier.model, need.beside):
        return
    reason = _lacking(nos, tier, need)
    if reason:
        message = f"fabric '{spec.name}': {WORDS[need.what]}: {reason}"
        report.error("FAB164", need.place, message, _who_can(need, nos, tier))


def _there(spec: FabricSpec, roles: tuple[str, ...]) -> list[str]:
    """Roles that the fabric may have; whether it has cores is known only when it is sized."""
    most = 1 if spec.kind == "collapsed" else 2 if spec.constraints.tiers == 2 else 3
    return [role for role in roles if EVERY.index(role) < most]


def _lacking(nos: Target, tier: TierSpec, need: Need) -> str:
    """Why a switch does not support a feature, "" if it does."""
    if not getattr(nos.capabilities, need.what):
        return f"expected a network OS with this feature, got {nos.title}"
    if need.of_model and nos.lacking(tier.model, need.what):
        return f"expected a switch with this feature, got {tier.switch}"
    return ""


def _who_can(need: Need, nos: Target, tier: TierSpec) -> str:
    if need.what == "watchdog":
        return f"set `qos: {{pfc_watchdog: false}}`; `fabric catalog {tier.switch}` gives the reason"
    if nos.lacking(tier.model, need.what):
        able = _switches(need, nos, tier)
        text = f"choose a switch with it, such as {' or '.join(able)}" if able else "no switch of the catalog has it"
        return f"{text}; `fabric catalog {tier.switch}` gives the reason"
    if need.what == "imports" and nos.capabilities.leaks:
        return f"state the `prefixes` of each import: {nos.title} imports by prefix"
    others = [method for method in METHODS if need.what in METHODS and getattr(nos.capabilities, method)]
    instead = f"state `{others[0]}` in its place" if others else ""
    able = [
        name
        for name, candidate in targets().items()
        if not _lacking(candidate, tier, need) and candidate.refusal(tier.model, tier.switch) is None
    ]
    if able:
        return f"{instead}, or set `nos: {able[0]}`" if instead else f"set `nos: {able[0]}`"
    return instead or "`fabric catalog --os` lists the features of each network OS"


def _switches(need: Need, nos: Target, tier: TierSpec) -> list[str]:
    """Switches of the catalog that run the network OS and have the feature: with as fast ports first, by bandwidth."""
    ranked = []
    for name in catalog.switch_names():
        model = catalog.switch(name)
        if model is None or name == tier.switch or nos.refusal(model, name) is not None or nos.lacking(model, need.what):
            continue
        if nos.name in model.nos:
            slower = max(tier.model.speeds) not in model.speeds
            ranked.append((slower, abs(model.bandwidth_gbps - tier.model.bandwidth_gbps), name))
    return [name for *_, name in sorted(ranked)[:SHOWN]]


def _check_names(name: str, spec: FabricSpec, chosen: Mapping[str, str], report: Report) -> None:
    """A VRF is a network device of the switch: the length of its name is limited."""
    if spec.isolation not in ("evpn", "vrf-lite") or not chosen[LEAF]:
        return
    limit = target(chosen[LEAF]).vrf_name_limit
    for at, tenant in enumerate(spec.tenants):
        if len(tenant.name) > limit:
            report.error(
                "FAB164",
                spec.at("tenants", at, "name"),
                f"fabric '{name}': expected a tenant name of at most {limit} characters on "
                f"{target(chosen[LEAF]).title}, got {len(tenant.name)}: '{tenant.name}'",
                "shorten the tenant name: it is also the name of the VRF",
            )


def _check_requests(name: str, spec: FabricSpec, chosen: Mapping[str, str], report: Report) -> None:
    """Values that the schema of the intent allows and a network OS does not."""
    under, qos = spec.underlay, spec.qos
    requests: dict[str, Any] = {"management.ntp": spec.management.ntp}
    if under.bfd.enabled:
        requests |= {"underlay.bfd.interval_ms": under.bfd.interval_ms, "underlay.bfd.multiplier": under.bfd.multiplier}
    if spec.roce:
        requests |= {"qos.lossless_priority": qos.lossless_priority, "qos.cnp_priority": qos.cnp_priority}
    for nos in sorted({chosen[role] for role in _there(spec, EVERY) if chosen[role]}):
        for key, text in (*target(nos).objects(requests).items(), *_refused(spec, target(nos))):
            where, title = _place(spec, key), target(nos).title
            hint = "state another value, or choose another network OS"
            report.error("FAB164", where, f"fabric '{name}', {title}: {key}: {text}", hint)
        if spec.management.aaa:
            for key, text, hint in _login_refusals(spec.management.aaa, target(nos).logins):
                where, title = _place(spec, f"management.aaa{key}"), target(nos).title
                report.error("FAB164", where, f"fabric '{name}', {title}: management.aaa{key}: {text}", hint)


def _refused(spec: FabricSpec, nos: Target) -> Iterator[tuple[str, str]]:
    """(key, what is expected and given) of stated values that `values.yaml` of a network OS refuses."""
    stated = {key: attrgetter(key)(spec) for key in JUDGED if spec.stated(*key.split("."))}
    stated |= {f"pins.{name}.asn": pin.asn for name, pin in spec.pins.items() if pin.asn is not None}
    if not (spec.underlay.bfd.enabled and spec.ethernet):
        stated = {key: value for key, value in stated.items() if ".bfd." not in key}
    if not stated or nos.syntax is None:
        return  # without reading the rows
    accepted = nos.syntax.get().accepted
    for key, value in stated.items():
        general = "pins.*.asn" if key.startswith("pins.") else key
        if value is not None and (expected := accepted.refused(general, value)):
            yield key, f"expected {expected}, got {value}"


def _login_refusals(aaa: Aaa, limits: LoginLimits) -> Iterator[tuple[str, str, str]]:
    """(key below `management.aaa`, "expected …, got …", hint) of what a network OS does not take."""
    remote, got = [method for method in aaa.order if method != LOCAL], f"got {', '.join(aaa.order)}"
    key = ".login" if aaa.login else ""
    if len(remote) > 1 and not limits.combined:
        yield key, f"expected one method with servers, {got}", f"set `login: [{remote[0]}, {LOCAL}]`"
    if aaa.order[0] == LOCAL and remote and not limits.local_first:
        yield key, f"expected {LOCAL} as the last method, {got}", f"set `login: [{', '.join(remote)}, {LOCAL}]`"
    if LOCAL not in aaa.order and not limits.without_local:
        yield key, f"expected {LOCAL} among the methods, {got}", f"set `login: [{', '.join(remote)}, {LOCAL}]`"
    if aaa.accounting and aaa.accounting not in limits.accounting:
        able = " or ".join(limits.accounting)
        yield (
            ".accounting",
            f"expected {able}, got {aaa.accounting}",
            f"set `accounting: {limits.accounting[0]}`, or remove it",
        )
    for name in ("base_dn", "bind_dn") if aaa.ldap else ():
        if len(text := getattr(aaa.ldap, name)) > limits.dn_characters:
            limit = f"expected at most {limits.dn_characters} characters, got {len(text)}"
            yield f".ldap.{name}", limit, "shorten the distinguished name"


def _place(spec: FabricSpec, key: str) -> Place:
    """The place of a key of a fabric; of the site for management that is not the fabric's own."""
    path = key.split(".")
    return spec.positions.at(*path) if path[0] == "management" and not spec.own_management else spec.at(*path)


def _check_releases(spec: FabricSpec, chosen: Mapping[str, str], report: Report) -> None:
    """Unknown releases of network OSes, and releases without a renderer."""
    for its in spec.releases:
        nos, where = its.nos, its.place
        if nos not in target_names():
            diagnostic = Diagnostic(
                "FAB107", where, f"releases: expected {one_of(target_names())}, got '{nos}'", nearest(nos, target_names())
            )
            if diagnostic not in report.errors:  # the release of a site is checked once per fabric
                report.errors.append(diagnostic)
        elif nos in chosen.values() and (reason := target(nos).release_refusal(its.release)):
            diagnostic = Diagnostic(
                "FAB164", where, f"releases: {nos}: {reason}", "`fabric catalog --os` lists the supported releases"
            )
            if diagnostic not in report.errors:
                report.errors.append(diagnostic)


def without_lossless(spec: FabricSpec, chosen: Mapping[str, str]) -> list[str]:
    """Network OSes of a RoCE fabric for which no PFC and ECN lines are made."""
    if not spec.roce:
        return []
    return sorted({nos for role, nos in chosen.items() if nos and not target(nos).can(getattr(spec, role).model, "lossless")})


# --- The network OS of each switch ----------------------------------------------------------------------------

ROLES = (LEAF, SPINE, CORE)


def choose(specs: Mapping[str, FabricSpec], emulated: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """Network OS by fabric and role; "" for a switch without a known one.

    Args:
        emulated: features that something else stands in for, as fields of Capabilities.

    Raises InputError for features of the intent that a switch lacks.
    """
    report = Report()
    chosen = {name: {role: _of(spec, role) for role in ROLES} for name, spec in specs.items()}
    check_capabilities(specs, chosen, report, emulated)
    report.raise_errors()
    return chosen


def _of(spec: FabricSpec, role: str) -> str:
    tier: TierSpec = getattr(spec, role)
    if tier.model.technology != "ethernet":
        return ""
    return tier.nos or next((nos for nos in tier.model.nos if nos in target_names()), "")


def check(fabrics: Mapping[str, FabricPlan], report: Report, *, only_stated: bool = False) -> None:
    """Checks that every Ethernet switch of a plan has a target that can configure it.

    `only_stated` checks only what the intent requests: a plan may have switches without a config target.
    """
    for plan in fabrics.values():
        if not plan.spec.ethernet:
            continue
        for role in ROLES:
            device = next((d for d in plan.devices if d.role == role), None)
            if device is None:
                continue
            tier: TierSpec = getattr(plan.spec, role)
            path = ("topology", role, "switch")
            place = plan.spec.at(*(path if plan.spec.stated(*path) else ("topology", "switch")))
            if only_stated and tier.nos is None:
                continue
            if not device.nos:
                report.error(
                    "FAB161",
                    place,
                    f"fabric '{plan.name}': no supported network OS for {tier.switch}",
                    f"set `nos:` to {one_of(target_names())}",
                )
                continue
            refusal = target(device.nos).refusal(tier.model, tier.switch)
            if refusal:
                report.error(
                    "FAB161", place, f"fabric '{plan.name}', {tier.switch}: {refusal}", "choose another `nos:` or switch"
                )


def refuse_stated(plan: Plan) -> None:
    """Raises InputError when the intent asks for a network OS that a switch cannot run."""
    report = Report()
    check(plan.fabrics, report, only_stated=True)
    report.raise_errors()


def mtu_limit(plan: FabricPlan) -> int:
    """The largest IP MTU that all network OSes of a fabric support."""
    return min((chosen.max_mtu for chosen in used(plan)), default=9216)


def used(plan: FabricPlan) -> list[Target]:
    """The targets of a fabric, by name."""
    return [target(nos) for nos in sorted({d.nos for d in plan.switches if d.nos})]


# --- Links balanced by load -----------------------------------------------------------------------------------

ENDS = {KINDS[LEAF_LEAF]: (LEAF,), KINDS[LEAF_SPINE]: (LEAF, SPINE), KINDS[SPINE_CORE]: (SPINE, CORE)}
BY_TIERS = {1: (KINDS[LEAF_LEAF],), 2: (KINDS[LEAF_SPINE],), 3: (KINDS[LEAF_SPINE], KINDS[SPINE_CORE])}


def balances_by_load(fabric: FabricPlan, nos: str, role: str, kind: str = "") -> bool:
    """Whether a role balances links of a kind by load, without one any: requested, or enabled as it has no side effect."""
    mode, balancing = fabric.spec.underlay.load_balancing.mode, can_balance(fabric, nos, role, kind)
    return bool(balancing) and (mode == "dynamic" or (mode == "auto" and balancing == "auto"))


def can_balance(fabric: FabricPlan, nos: str, role: str, kind: str = "") -> str:
    """What `Capabilities.dynamic_balancing` states; "" if the switch, or each of its links of the kind, lacks it."""
    tier: TierSpec = getattr(fabric.spec, role)
    if not nos or not target(nos).can(tier.model, "dynamic_balancing"):
        return ""
    links = fabric_links(fabric, role)
    able = any(not unbalanced(fabric, nos, gbps) for its, gbps in links.items() if kind in ("", its))
    return target(nos).capabilities.dynamic_balancing if able else ""


def unbalanced(fabric: FabricPlan, nos: str, gbps: int) -> str:
    """Why a network OS does not balance links of a speed by load, "expected …, got …"; "" if it does."""
    chosen = target(nos)
    if chosen.balanced_gbps and gbps not in chosen.balanced_gbps:
        return f"expected {' or '.join(f'{speed}G' for speed in chosen.balanced_gbps)} on {chosen.title}, got {gbps}G"
    if fabric.spec.isolation == "vrf-lite" and not chosen.balanced_subinterfaces:
        return f"expected ports without subinterfaces on {chosen.title}, got `isolation: vrf-lite`"
    return ""


def fabric_links(fabric: FabricPlan, role: str) -> dict[str, int]:
    """Kind → speed of the links between a role and other switches."""
    sizing = fabric.sizing
    return {
        kind: sizing.core_gbps if kind == KINDS[SPINE_CORE] else sizing.uplink_gbps
        for kind in BY_TIERS[sizing.tiers]
        if role in ENDS[kind]
    }
