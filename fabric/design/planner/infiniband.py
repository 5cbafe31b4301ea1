"""Settings that only InfiniBand has, or that it has no use for."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from fabric.base.diagnostics import Report, nearest
from fabric.model.plan import FabricSpec
from fabric.model.settings.infiniband import Infiniband, Partition
from fabric.model.settings.services import Tenant

_UNUSED = ("networks", "imports", "vni")  # keys of a tenant


def check(spec: FabricSpec, report: Report) -> None:
    """Refuses routers, overlays, networks and lossless classes of an InfiniBand fabric, and impossible partitions."""
    if spec.stated("overlay") and (spec.overlay.kind != "none" or spec.overlay.isolation is not None):
        report.error(
            "FAB144",
            spec.at("overlay"),
            "overlay: expected none on an InfiniBand fabric",
            "remove `overlay`: `tenants` are isolated by partition keys",
        )
    for index, attachment in enumerate(spec.attachments):
        if attachment.external is not None:
            report.error(
                "FAB144",
                spec.at("topology", "attachments", index, "external"),
                f"attachment '{attachment.name}': expected no router on an InfiniBand fabric: its switches do not run BGP",
                "remove `external`: the device is then the gateway",
            )
        names = [tenant.name for tenant in spec.tenants]
        if attachment.tenant is not None and attachment.tenant not in names:
            report.error(
                "FAB144",
                spec.at("topology", "attachments", index, "tenant"),
                f"attachment '{attachment.name}': expected a tenant of this fabric, got '{attachment.tenant}'",
                nearest(attachment.tenant, names) if names else "the fabric has no `tenants`",
            )
    if spec.qos.enabled:
        report.error(
            "FAB144",
            spec.at("qos", "enabled"),
            "qos: expected none on an InfiniBand fabric, which is lossless by link credits",
            "remove `qos`: `partition.service_level` of a tenant chooses its lane",
        )
    for index, tenant in enumerate(spec.tenants):
        _check_tenant(spec, index, tenant, report)
    _check_levels(spec, report)


def _check_tenant(spec: FabricSpec, index: int, tenant: Tenant, report: Report) -> None:
    if tenant.name.lower() == "default":
        report.error(
            "FAB144",
            spec.at("tenants", index, "name"),
            "tenants: expected another name than that of the default partition, got 'default'",
            "the subnet manager has a partition of that name for all ports",
        )
    for key in _UNUSED:
        if getattr(tenant, key):
            report.error(
                "FAB144",
                spec.at("tenants", index, key),
                f"tenant '{tenant.name}': {key}: expected none on an InfiniBand fabric, whose tenants are partitions",
                "remove it; `partition` has the P_Key, and tenants that serve others",
            )
    names = [other.name for other in spec.tenants]
    for n, name in enumerate(tenant.partition.served_by):
        others = [other for other in names if other != tenant.name]
        if name not in others:
            where = spec.at("tenants", index, "partition", "served_by", n)
            hint = nearest(name, others) if others else "the fabric has no other tenant"
            report.error("FAB144", where, f"served_by: expected another tenant, got '{name}'", hint)


def _check_levels(spec: FabricSpec, report: Report) -> None:
    """Tenants on one lane share its credits: several service levels on a single lane do nothing."""
    levels = {tenant.partition.service_level for tenant in spec.tenants}
    if spec.infiniband.virtual_lanes == 1 and len(levels) > 1:
        report.error(
            "FAB144",
            spec.at("infiniband", "virtual_lanes"),
            f"virtual_lanes: expected at least 2 for {len(levels)} service levels, got 1",
            "remove it, or give all tenants one `service_level`",
        )


def check_keys(spec: FabricSpec, numbers: Mapping[str, int], report: Report) -> None:
    """Two partitions of one P_Key are one partition."""
    keys = sorted((tenant.partition.pkey or numbers[tenant.name], at) for at, tenant in enumerate(spec.tenants))
    for (key, one), (other_key, other) in pairwise(keys):
        if key == other_key:
            first, second = sorted((one, other), key=lambda at: not spec.tenants[at].partition.pkey)
            report.error(
                "FAB138",
                spec.at("tenants", first, "partition", "pkey"),
                f"tenants '{spec.tenants[first].name}' and '{spec.tenants[second].name}': expected unique P_Keys, both have "
                f"{key:#x}",
                "a tenant without `pkey` has its number as the key; state keys from 0x100 on",
            )


def check_ethernet(spec: FabricSpec, report: Report) -> None:
    """Refuses what only a subnet manager reads."""
    hint = "remove it, or choose InfiniBand switches"
    if spec.infiniband != Infiniband():
        report.error("FAB144", spec.at("infiniband"), "infiniband: expected none on an Ethernet fabric", hint)
    for index, tenant in enumerate(spec.tenants):
        if tenant.partition != Partition():
            where = spec.at("tenants", index, "partition")
            report.error("FAB144", where, f"tenant '{tenant.name}': partition: expected none on an Ethernet fabric", hint)
