"""`fabric init`: writes a short commented intent from flags."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.formats import write_new
from fabric.cli.common import check_target, option, refuse, say
from fabric.cli.output import put
from fabric.design.intent.draft import SCHEMA, Draft

SERVERS, SWITCHES, TOPOLOGY, OUTPUT = "Servers", "Switches", "Topology", "Output"  # groups of options


def init(
    name: str = typer.Argument(..., metavar="NAME", help="name of the site", show_default=False),
    output: Path | None = option(None, "-o --output", "FILE", "file to write", shown="stdout", panel=OUTPUT),
    nos: str = option("", "--nos", "OS", "network OS: sonic, cumulus, eos, nxos, junos or frr", panel=SWITCHES),
    server: str = option("", "--server", "MODEL", "server model", shown="dgx-h100", panel=SERVERS),
    servers: int = option(8, "--servers", "N", "number of servers", panel=SERVERS),
    servers_per_rack: int | None = option(None, "--servers-per-rack", "N", "servers per rack", panel=SERVERS),
    gpus_per_server: int | None = option(
        None, "--gpus-per-server", "N", "GPUs per server; declares a new server model", panel=SERVERS
    ),
    nics_per_server: int | None = option(
        None, "--nics-per-server", "N", "NICs per server; declares a new server model", panel=SERVERS
    ),
    nic_ports: str = option(
        "", "--nic-ports", "NxGBPS", "ports per NIC and their speed in Gb/s, such as 2x400", panel=SERVERS
    ),
    planned_servers: int | None = option(
        None, "--planned-servers", "N", "planned number of servers after growth", panel=SERVERS
    ),
    switch: str = option(
        "",
        "--switch",
        "MODEL",
        "switch model of all tiers",
        shown="sn5600, or one of its size that runs the network OS",
        panel=SWITCHES,
    ),
    leaf: str = option("", "--leaf", "MODEL", "leaf switch model", panel=SWITCHES),
    spine: str = option("", "--spine", "MODEL", "spine switch model", panel=SWITCHES),
    core: str = option("", "--core", "MODEL", "core switch model", panel=SWITCHES),
    spines: int | None = option(None, "--spines", "N", "total number of spines", panel=SWITCHES),
    cores: int | None = option(None, "--cores", "N", "total number of cores", panel=SWITCHES),
    spare: int = option(0, "--spare", "N", "spare server ports per leaf", panel=SWITCHES),
    topology: str = option(
        "",
        "--topology",
        "KIND",
        "rail-optimized, rack, rail-only, collapsed, back-to-back or ring",
        shown="rail-optimized",
        panel=TOPOLOGY,
    ),
    unit: int | None = option(None, "--unit --scalable-unit", "N", "servers per unit", panel=TOPOLOGY),
    tiers: str = option("auto", "--tiers", "N", "auto, 1 (no spines), 2 or 3", panel=TOPOLOGY),
    pods: str = option("auto", "--pods", "N", "auto, a count, units=N or racks=N; with rails=N", panel=TOPOLOGY),
    planes: int = option(1, "--planes", "N", "number of isolated planes", panel=TOPOLOGY),
    dual_tor: bool = option(False, "--dual-tor", help="connect the ports of each NIC to different leaves", panel=TOPOLOGY),
    oversubscription: str = option(
        "", "--oversubscription", "R[,R]", "oversubscription of leaf and spine", shown="1", panel=TOPOLOGY
    ),
    uplinks: str = option("", "--uplinks", "N[@SPEED]", "uplinks per leaf", panel=TOPOLOGY),
) -> None:
    """Write a short commented intent."""
    draft = Draft(
        name=name,
        server=server,
        servers=servers,
        servers_per_rack=servers_per_rack,
        gpus_per_server=gpus_per_server,
        nics_per_server=nics_per_server,
        nic_ports=nic_ports,
        switch=switch,
        leaf=leaf,
        spine=spine,
        core=core,
        topology=topology,
        unit=unit,
        tiers=tiers,
        pods=pods,
        planes=planes,
        dual_tor=dual_tor,
        oversubscription=oversubscription,
        uplinks=uplinks,
        spines=spines,
        cores=cores,
        spare=spare,
        planned_servers=planned_servers,
        nos=nos,
    )
    if output is not None:
        refuse(lambda report: check_target(report, "-o", output, f"{name}.yaml", makes_folder=True))
    beside = (output.parent if output else Path()) / SCHEMA
    text = pipeline.init(draft, "fabric init", schema=output is not None or beside.exists())
    if output is None:
        put(None, text)
        return
    write_new(output, text.encode())  # never over an existing intent
    if not beside.exists():
        write_new(beside, pipeline.schema().encode())
        say(f"{beside} written, for completion and validation in editors")
    say(f"{output} written; next: fabric plan {output}")
