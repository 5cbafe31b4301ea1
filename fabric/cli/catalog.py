"""`fabric catalog`: the hardware that ships."""

from __future__ import annotations

import json

import typer


def catalog(
    name: str = typer.Argument("", metavar="[NAME]", help="one switch or server, whole", show_default=False),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """List the switches and servers of the catalog, or show one."""
    from fabric import catalog as hardware
    from fabric.diagnostics import Diagnostic, InputError, Place, nearest

    if name:
        entry = hardware.switch(name) or hardware.server(name)
        if entry is None:
            known = [*hardware.switch_names(), *hardware.server_names()]
            raise InputError([Diagnostic("FAB106", Place("catalog"), f"unknown model '{name}'", nearest(name, known))])
        print(json.dumps(entry.model_dump(exclude_defaults=True), indent=2))
        return
    switches = {model: hardware.switch(model) for model in hardware.switch_names()}
    servers = {model: hardware.server(model) for model in hardware.server_names()}
    if as_json:
        everything = {**switches, **servers}
        print(
            json.dumps({model: box.model_dump(exclude_defaults=True) for model, box in everything.items() if box}, indent=2)
        )
        return
    for model, switch in switches.items():
        if switch:
            ports = " + ".join(f"{group.count}x{group.speed_gbps}G" for group in switch.ports)
            print(f"{model:18}{switch.maker:10}{ports:22}{switch.asic:18}{', '.join(switch.nos) or '-'}")
    print()
    for model, server in servers.items():
        if server:
            nics = ", ".join(f"{use} {nic.count}x{nic.ports}x{nic.speed_gbps}G" for use, nic in server.nics.items())
            print(f"{model:18}{server.gpus:3} GPUs  {nics}")
