"""The files of every subnet manager: configuration, GUID lists, partitions, names, and the topology to compare with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fabric.configs.infiniband import topology
from fabric.configs.infiniband.guids import Guid, Guids, guids, table
from fabric.configs.templating.shipped import environment
from fabric.model.plan import Plan
from fabric.model.plan.subnets import FULL, Node, Partition, Subnet, partitions, subnets, usual_engines

FOLDER = "subnet-manager"
LOCAL_PREFIX = 0xFE80 << 48  # of the first subnet of a site; the others count on from it


@dataclass(frozen=True)
class Managed:
    """A subnet, and what its manager knows of it."""

    subnet: Subnet
    guids: Guids

    @property
    def folder(self) -> str:
        return f"{FOLDER}/{self.subnet.name}"

    @cached_property
    def partitions(self) -> list[Partition]:
        return partitions(self.subnet)

    @property
    def engines(self) -> tuple[str, ...]:
        """As stated, else those that suit the shape."""
        return self.subnet.fabric.spec.infiniband.routing or usual_engines(self.subnet)

    @property
    def lanes(self) -> int:
        """Data lanes: several where tenants have service levels of their own."""
        its = self.subnet.fabric.spec
        levels = {tenant.partition.service_level for tenant in its.tenants}
        return its.infiniband.virtual_lanes or (4 if len(levels) > 1 else 1)

    def storage(self) -> list[int]:
        """Ports of storage NICs beside others, and of attachments: several of them may be on one leaf."""
        chosen = set(self.subnet.compute)
        return [at for at, node in enumerate(self.subnet.nodes) if not node.switch and at not in chosen]

    def guid(self, at: int) -> Guid:
        return self.guids.of[at]


def managed(plan: Plan, base: Path) -> list[Managed]:
    """Every subnet of a site with its GUIDs. Raises InputError for an inventory that does not fit."""
    return [Managed(subnet, guids(plan, subnet, base)) for subnet in subnets(plan)]


def files(its: Managed) -> Iterator[tuple[str, bytes]]:
    """(path, bytes) of one subnet."""
    for name, text in _texts(its):
        yield f"{its.folder}/{name}", text.encode()


def _texts(its: Managed) -> Iterator[tuple[str, str]]:
    subnet = its.subnet
    yield "opensm.conf", _printed("opensm", _settings(its))
    lists = _lists(its)
    for name, what, rows in lists:
        if rows:
            yield name, _printed("guids", {"subnet": subnet.name, "what": what, "rows": rows, "placeholders": _pretend(rows)})
    yield (
        "partitions.conf",
        _printed("partitions", {"subnet": subnet.name, "partitions": [_shown(its, p) for p in its.partitions]}),
    )
    yield "node-names.map", topology.name_map(subnet, its.guids)
    yield "fabric.topo", topology.topo(subnet)
    yield "guids.csv", table(subnet, its.guids)
    stated = subnet.fabric.spec.infiniband
    if stated.adaptive_routing or stated.sharp:
        engine = "ar_ftree" if its.engines[0] == "ftree" else "ar_updn"
        values = {"subnet": subnet.name, "adaptive": stated.adaptive_routing, "sharp": stated.sharp, "engine": engine}
        yield "nvidia.conf", _printed("nvidia", values)


def _printed(name: str, values: dict[str, Any]) -> str:
    return environment().get_template(f"infiniband/{name}.conf.j2").render(values)


def _settings(its: Managed) -> dict[str, Any]:
    subnet, lanes = its.subnet, its.lanes
    return {
        "subnet": subnet.name,
        "switches": len(subnet.switches),
        "adapters": len(subnet.adapters),
        "placeholders": its.guids.placeholders,
        "prefix": f"{LOCAL_PREFIX + subnet.number:#018x}",
        "engines": ",".join(its.engines),
        "folder": "/etc/opensm",
        "roots": subnet.tiers > 1,
        "compute": bool(its.subnet.compute),
        "storage": bool(its.storage()),
        "lanes": lanes,
        "arbitration": ",".join(f"{lane}:64" for lane in range(lanes)),
        "sl2vl": ",".join(str(level % lanes) for level in range(16)),
    }


def _lists(its: Managed) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Name, meaning and rows of the lists of GUIDs."""
    tops = set(its.subnet.top) if its.subnet.tiers > 1 else set[Node]()
    roots = [at for at, node in enumerate(its.subnet.nodes) if node in tops]
    return [
        ("root-guids.conf", "node GUIDs of the top tier", _rows(its, roots)),
        ("compute-guids.conf", "port GUIDs of compute NICs", _rows(its, its.subnet.compute)),
        ("storage-guids.conf", "port GUIDs of storage NICs and attachments", _rows(its, its.storage())),
    ]


def _rows(its: Managed, places: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for at in places:
        for guid in its.guids.nodes(at):
            shown, node = f"{guid.port:#018x}", its.subnet.nodes[at]
            if node.switch:
                shown = f"{guid.node:#018x}"
            rows.append({"name": node.name, "guid": shown, "placeholder": guid.source == "placeholder"})
    return rows


def _pretend(rows: Sequence[dict[str, Any]]) -> bool:
    return any(row["placeholder"] for row in rows)


def _shown(its: Managed, partition: Partition) -> dict[str, Any]:
    usual = "limited" if partition.limited and not partition.full else "full"
    members = [(at, "full") for at in partition.full] + [(at, "limited") for at in partition.limited]
    return {
        "name": partition.name,
        "key": f"{partition.pkey | FULL:#06x}",
        "level": partition.service_level,
        "usual": usual,
        "full": len(partition.full),
        "limited": len(partition.limited),
        "members": [f"{its.guid(at).port:#018x}" + ("" if kind == usual else f"={kind}") for at, kind in sorted(members)],
    }


def notes(all_managed: Sequence[Managed]) -> Iterator[str]:
    """What a run says of the subnets: GUIDs that are placeholders."""
    for its in all_managed:
        if count := its.guids.placeholders:
            total = len(its.guids.of)
            yield (
                f"{its.folder}: InfiniBand: {count:,} of {total:,} GUIDs are placeholders, "
                "`infiniband: {guids: FILE}` states those of the nodes"
            )
