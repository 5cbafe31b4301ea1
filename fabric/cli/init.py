"""`fabric init`: writes a short commented intent from flags."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.base.formats import write_new
from fabric.cli.common import check_target, refuse, say
from fabric.cli.output import put
from fabric.design.intent.draft import SCHEMA, Draft

SERVERS, SWITCHES, TOPOLOGY, OUTPUT = "Servers", "Switches", "Topology", "Output"  # groups of options


def init(
    name: str = typer.Argument(..., metavar="NAME", help="name of the site", show_default=False),
    output: Path | None = typer.Option(
        None, "-o", "--output", metavar="FILE", help="file to write", show_default="stdout", rich_help_panel=OUTPUT
    ),
    nos: str = typer.Option(
        "",
        "--nos",
        metavar="OS",
        help="network OS: sonic, cumulus, eos, nxos, junos or frr",
        show_default=False,
        rich_help_panel=SWITCHES,
    ),
    server: str = typer.Option(
        "", "--server", metavar="MODEL", help="server model", show_default="dgx-h100", rich_help_panel=SERVERS
    ),
    servers: int = typer.Option(8, "--servers", metavar="N", help="number of servers", rich_help_panel=SERVERS),
    servers_per_rack: int | None = typer.Option(
        None, "--servers-per-rack", metavar="N", help="servers per rack", show_default=False, rich_help_panel=SERVERS
    ),
    gpus_per_server: int | None = typer.Option(
        None,
        "--gpus-per-server",
        metavar="N",
        help="GPUs per server; declares a new server model",
        show_default=False,
        rich_help_panel=SERVERS,
    ),
    nics_per_server: int | None = typer.Option(
        None,
        "--nics-per-server",
        metavar="N",
        help="NICs per server; declares a new server model",
        show_default=False,
        rich_help_panel=SERVERS,
    ),
    nic_ports: str = typer.Option(
        "",
        "--nic-ports",
        metavar="NxGBPS",
        help="ports per NIC and their speed in Gb/s, such as 2x400",
        show_default=False,
        rich_help_panel=SERVERS,
    ),
    planned_servers: int | None = typer.Option(
        None,
        "--planned-servers",
        metavar="N",
        help="planned number of servers after growth",
        show_default=False,
        rich_help_panel=SERVERS,
    ),
    switch: str = typer.Option(
        "",
        "--switch",
        metavar="MODEL",
        help="switch model of all tiers",
        show_default="sn5600, or one of its size that runs the network OS",
        rich_help_panel=SWITCHES,
    ),
    leaf: str = typer.Option(
        "", "--leaf", metavar="MODEL", help="leaf switch model", show_default=False, rich_help_panel=SWITCHES
    ),
    spine: str = typer.Option(
        "", "--spine", metavar="MODEL", help="spine switch model", show_default=False, rich_help_panel=SWITCHES
    ),
    core: str = typer.Option(
        "", "--core", metavar="MODEL", help="core switch model", show_default=False, rich_help_panel=SWITCHES
    ),
    spines: int | None = typer.Option(
        None, "--spines", metavar="N", help="total number of spines", show_default=False, rich_help_panel=SWITCHES
    ),
    cores: int | None = typer.Option(
        None, "--cores", metavar="N", help="total number of cores", show_default=False, rich_help_panel=SWITCHES
    ),
    spare: int = typer.Option(0, "--spare", metavar="N", help="spare server ports per leaf", rich_help_panel=SWITCHES),
    topology: str = typer.Option(
        "",
        "--topology",
        metavar="KIND",
        help="rail-optimized, rack, rail-only or collapsed",
        show_default="rail-optimized",
        rich_help_panel=TOPOLOGY,
    ),
    unit: int | None = typer.Option(
        None,
        "--unit",
        "--scalable-unit",
        metavar="N",
        help="servers per unit",
        show_default=False,
        rich_help_panel=TOPOLOGY,
    ),
    tiers: str = typer.Option("auto", "--tiers", metavar="N", help="auto, 1 (no spines), 2 or 3", rich_help_panel=TOPOLOGY),
    pods: str = typer.Option(
        "auto", "--pods", metavar="N", help="auto, a count, units=N or racks=N", rich_help_panel=TOPOLOGY
    ),
    planes: int = typer.Option(1, "--planes", metavar="N", help="number of isolated planes", rich_help_panel=TOPOLOGY),
    dual_tor: bool = typer.Option(
        False, "--dual-tor", help="connect the ports of each NIC to different leaves", rich_help_panel=TOPOLOGY
    ),
    oversubscription: str = typer.Option(
        "",
        "--oversubscription",
        metavar="R[,R]",
        help="oversubscription of leaf and spine",
        show_default="1",
        rich_help_panel=TOPOLOGY,
    ),
    uplinks: str = typer.Option(
        "", "--uplinks", metavar="N[@SPEED]", help="uplinks per leaf", show_default=False, rich_help_panel=TOPOLOGY
    ),
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
