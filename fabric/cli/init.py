"""`fabric init`: writes a short commented intent from flags."""

from __future__ import annotations

from pathlib import Path

import typer

from fabric import pipeline
from fabric.cli.common import say
from fabric.cli.reports import put
from fabric.formats import write_new
from fabric.intent.draft import SCHEMA, Draft


def init(
    name: str = typer.Argument(..., metavar="NAME", help="name of the site", show_default=False),
    output: Path | None = typer.Option(None, "-o", "--output", metavar="FILE", help="file to write; stdout unless given"),
    server: str = typer.Option("", "--server", metavar="MODEL", help="server of the catalog  [dgx-h100]"),
    servers: int = typer.Option(8, "--servers", help="how many"),
    servers_per_rack: int | None = typer.Option(None, "--servers-per-rack", help="servers in one rack", show_default=False),
    gpus_per_server: int | None = typer.Option(
        None, "--gpus-per-server", help="declares a server of your own", show_default=False
    ),
    nics_per_server: int | None = typer.Option(None, "--nics-per-server", help="its NICs", show_default=False),
    nic_ports: str = typer.Option("", "--nic-ports", metavar="2x400", help="ports of a NIC x Gb/s", show_default=False),
    switch: str = typer.Option("", "--switch", metavar="MODEL", help="switch of every tier  [sn5600]"),
    leaf: str = typer.Option("", "--leaf", metavar="MODEL", help="leaf switch", show_default=False),
    spine: str = typer.Option("", "--spine", metavar="MODEL", help="spine switch", show_default=False),
    core: str = typer.Option("", "--core", metavar="MODEL", help="core switch", show_default=False),
    topology: str = typer.Option("", "--topology", metavar="KIND", help="rail-optimized, rack, rail-only or collapsed"),
    unit: int | None = typer.Option(None, "--unit", "--scalable-unit", help="servers of a unit", show_default=False),
    tiers: str = typer.Option("auto", "--tiers", help="auto, 2 or 3"),
    pods: str = typer.Option("auto", "--pods", help="auto, a count, units=N or racks=N"),
    planes: int = typer.Option(1, "--planes", help="isolated planes"),
    dual_tor: bool = typer.Option(False, "--dual-tor", help="ports of a NIC go to different leaves"),
    oversubscription: str = typer.Option("", "--oversubscription", metavar="R[,R]", help="of the leaf, of the spine"),
    uplinks: str = typer.Option("", "--uplinks", metavar="N[@SPEED]", help="uplinks of a leaf", show_default=False),
    spines: int | None = typer.Option(None, "--spines", help="spines in all", show_default=False),
    cores: int | None = typer.Option(None, "--cores", help="cores in all", show_default=False),
    spare: int = typer.Option(0, "--spare", help="server ports of each leaf kept free"),
    planned_servers: int | None = typer.Option(None, "--planned-servers", help="size to leave room for", show_default=False),
    nos: str = typer.Option("", "--nos", help="network OS: sonic, eos, frr, …", show_default=False),
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
    beside = (output.parent if output else Path()) / SCHEMA
    text = pipeline.init(draft, str(output or "intent"), schema=output is not None or beside.exists())
    if output is None:
        put(None, text)
        return
    write_new(output, text.encode())  # never over somebody's intent
    if not beside.exists():
        write_new(beside, pipeline.schema().encode())
        say(f"{beside} written, for editors that complete and check YAML")
    say(f"{output} written; next: fabric plan {output}")
