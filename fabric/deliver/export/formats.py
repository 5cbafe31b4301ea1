"""Formats that a plan is exported in: one line per format; what makes it is imported when it is asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.formats import Format
from fabric.base.text import plural
from fabric.model.plan import Plan
from fabric.nos.target import UNSUPPORTED, target

Exported = str | Mapping[str, str | bytes] | Mapping[str, str]  # one text, or files by their path in a folder


FORMATS: Mapping[str, Format[Exported]] = {
    "ansible": Format("Ansible inventory", "fabric.deliver.export.ansible:ansible"),
    "anta": Format("catalog of tests and inventory for ANTA (a folder)", "fabric.deliver.export.anta:anta"),
    "cable-validation": Format(
        "point-to-point file of the cable validation tool (a folder)",
        "fabric.deliver.export.cable_validation:cable_validation",
    ),
    "collect": Format("how to collect state for `fabric verify` (a folder)", "fabric.deliver.export.collect:collect"),
    "containerlab": Format("containerlab topology", "fabric.deliver.export.containerlab:containerlab"),
    "containerlab-files": Format(
        "the same with port names of cEOS, for SSH (a folder)", "fabric.deliver.export.containerlab:containerlab_files"
    ),
    "day-zero": Format(
        "DHCP servers, files of the first start (a folder); --inventory FILE", "fabric.deliver.day_zero.export:day_zero"
    ),
    "drawio": Format("draw.io pages: overview, switches, rail, plane, racks", "fabric.deliver.export.drawio:drawio"),
    "gnmi": Format("gNMI subscriptions, for gnmic", "fabric.deliver.export.gnmi:gnmi"),
    "graphml": Format("every device and link, for networkx or Gephi", "fabric.deliver.export.graphs:graphml"),
    "graphviz": Format("picture of link bundles, for dot", "fabric.deliver.export.graphs:graphviz"),
    "kubernetes": Format("node labels, Kueue and Volcano topology (a folder)", "fabric.deliver.export.kubernetes:kubernetes"),
    "mermaid": Format("Mermaid flowchart for Markdown", "fabric.deliver.export.graphs:mermaid"),
    "nautobot": Format("objects of `fabric push nautobot`, JSON", "fabric.deliver.inventory.nautobot:nautobot"),
    "nccl": Format("NCCL topology of each server group (a folder)", "fabric.deliver.export.nccl:nccl"),
    "netbox": Format("objects of `fabric push netbox`, JSON", "fabric.deliver.inventory.netbox:netbox"),
    "network-operator": Format(
        "NVIDIA Network Operator: pools, names, NICs, rails, topology (a folder)",
        "fabric.deliver.export.network_operator:network_operator",
    ),
    "prometheus": Format(
        "alert and recording rules, targets, inhibition (a folder)", "fabric.deliver.monitoring.prometheus:prometheus"
    ),
    "prometheus-snmp": Format(
        "the same for sites with SNMP only (a folder)", "fabric.deliver.monitoring.prometheus:prometheus_snmp"
    ),
    "slurm": Format("topology.conf, tree", "fabric.deliver.export.slurm:slurm"),
    "slurm-block": Format("topology.conf, blocks", "fabric.deliver.export.slurm:slurm_block"),
    "slurm-yaml": Format("topology.yaml of Slurm 25.05", "fabric.deliver.export.slurm:slurm_yaml"),
    "svg": Format("picture of the tiers", "fabric.deliver.export.svg:svg"),
    "svg-plane": Format("picture of one plane with its ports; --plane N", "fabric.deliver.export.svg:svg_plane"),
    "svg-racks": Format("rack elevations and the floor", "fabric.deliver.export.svg:svg_racks"),
    "svg-rail": Format("picture of one rail with its ports; --rail N", "fabric.deliver.export.svg:svg_rail"),
}


# --- what a format cannot say ---------------------------------------------------------------------------------

LINUX = "as plain Linux without a configuration"
NEEDS = {  # format → field of the record of a network OS, what becomes of switches whose network OS has none
    "ansible": ("ansible", "without variables of a connection"),
    "anta": ("anta", "left out"),
    "collect": ("collect", "left out"),
    "containerlab": ("containerlab", LINUX),
    "containerlab-files": ("containerlab", LINUX),
    "day-zero": ("day_zero", "get an address and no files"),
    "prometheus": ("exporters", "by SNMP"),
}


def unsupported(form: str, plan: Plan) -> Iterator[Diagnostic]:
    """A warning for every network OS that a format knows nothing of."""
    field, without = NEEDS.get(form, ("", ""))
    systems = Counter(device.nos for fabric in plan.fabrics.values() for device in fabric.switches if device.nos)
    for nos, count in sorted(systems.items()) if field else ():
        if getattr(target(nos), field) in (None, ()):
            message = f"not supported on {target(nos).title}: {plural(count, 'switch', 'switches')} {without}"
            yield Diagnostic(
                UNSUPPORTED, Place(form), message, f"define `{field}` in the target of the network OS", "warning"
            )
