"""Formats that a plan is exported in: one line per format; what makes it is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.base.formats import Format

Exported = str | Mapping[str, str]  # one text, or texts by their path in a folder


FORMATS: Mapping[str, Format[Exported]] = {
    "ansible": Format("Ansible inventory", "fabric.deliver.export.ansible:ansible"),
    "anta": Format("catalog of tests and inventory for ANTA (a folder)", "fabric.deliver.export.anta:anta"),
    "collect": Format("how to collect state for `fabric verify` (a folder)", "fabric.deliver.export.collect:collect"),
    "containerlab": Format("containerlab topology", "fabric.deliver.export.containerlab:containerlab"),
    "containerlab-files": Format(
        "the same with port names of cEOS, for SSH (a folder)", "fabric.deliver.export.containerlab:containerlab_files"
    ),
    "drawio": Format("draw.io pages: overview, switches, rail, plane, racks", "fabric.deliver.export.drawio:drawio"),
    "gnmi": Format("gNMI subscriptions, for gnmic", "fabric.deliver.export.gnmi:gnmi"),
    "graphml": Format("every device and link, for networkx or Gephi", "fabric.deliver.export.graphml:graphml"),
    "graphviz": Format("picture of link bundles, for dot", "fabric.deliver.export.graphviz:graphviz"),
    "kubernetes": Format("node labels, Kueue and Volcano topology (a folder)", "fabric.deliver.export.kubernetes:kubernetes"),
    "mermaid": Format("Mermaid flowchart for Markdown", "fabric.deliver.export.mermaid:mermaid"),
    "nautobot": Format("objects of `fabric nautobot push`, JSON", "fabric.deliver.inventory.nautobot:nautobot"),
    "nccl": Format("NCCL topology of each server group (a folder)", "fabric.deliver.export.nccl:nccl"),
    "netbox": Format("objects of `fabric netbox push`, JSON", "fabric.deliver.inventory.netbox:netbox"),
    "prometheus": Format(
        "alert and recording rules, targets, inhibition (a folder)", "fabric.deliver.monitoring.prometheus:prometheus"
    ),
    "prometheus-snmp": Format(
        "the same for sites with SNMP only (a folder)", "fabric.deliver.monitoring.prometheus:prometheus_snmp"
    ),
    "slurm": Format("topology.conf, tree", "fabric.deliver.export.slurm:slurm"),
    "slurm-block": Format("topology.conf, blocks", "fabric.deliver.export.slurm:slurm_block"),
    "slurm-yaml": Format("topology.yaml of Slurm 25.05", "fabric.deliver.export.slurm_yaml:slurm_yaml"),
    "svg": Format("picture of the tiers", "fabric.deliver.export.svg:svg"),
    "svg-plane": Format("picture of one plane with its ports; --plane N", "fabric.deliver.export.svg:svg_plane"),
    "svg-racks": Format("rack elevations and the floor", "fabric.deliver.export.svg:svg_racks"),
    "svg-rail": Format("picture of one rail with its ports; --rail N", "fabric.deliver.export.svg:svg_rail"),
}
