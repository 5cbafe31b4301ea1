"""`fabric headroom`: how much buffer a lossless priority needs on one port, and why."""

from __future__ import annotations

from dataclasses import asdict

import typer

from fabric import catalog, pipeline
from fabric.catalog import asics
from fabric.catalog.asics import Asic
from fabric.cli.common import check_range, mistake
from fabric.diagnostics import Report, nearest, show
from fabric.formats import json_text
from fabric.qos.link import LOSSLESS_MTU_BYTES, ROCE_HEADERS_BYTES
from fabric.qos.words import explain

LONGEST_M, FASTEST_GBPS = 100_000, 12_800  # as an intent may say
MTU_RANGE = (256, 16_384)


def headroom(
    switch: str = typer.Option("", "--switch", metavar="MODEL", help="switch of the catalog", show_default=False),
    asic: str = typer.Option("", "--asic", metavar="CHIP", help="switch chip, instead of a switch", show_default=False),
    speed: int = typer.Option(..., "--speed", metavar="GBPS", help="port speed in Gb/s", show_default=False),
    length: int = typer.Option(..., "--length", metavar="METRES", help="cable length in m", show_default=False),
    mtu: int = typer.Option(9216, "--mtu", metavar="BYTES", help="largest frame of the port"),
    rdma_mtu: int = typer.Option(
        0, "--rdma-mtu", metavar="BYTES", help="RDMA payload, 4096 in a design; 1024, as in published tables, unless given"
    ),
    traffic: str = typer.Option(
        "static", "--traffic", metavar="KIND", help="static: small packets only; dynamic: half small"
    ),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Compute the PFC headroom of a port and show its terms."""
    report = Report()
    chip = _chip(report, switch, asic, speed)
    ranges = {
        "--speed": (speed, 1, FASTEST_GBPS, "Gb/s"),
        "--length": (length, 0, LONGEST_M, "m"),
        "--mtu": (mtu, *MTU_RANGE, "bytes"),
        "--rdma-mtu": (rdma_mtu or 1024, 256, 4096, "bytes"),
    }
    for option, (value, least, most, unit) in ranges.items():
        check_range(report, option, value, least, most, f"{least} to {most} {unit}", f"{option} counts in {unit}")
    if traffic not in ("static", "dynamic"):
        mistake(report, "--traffic", f"expected static or dynamic, got {traffic!r}", "static is what SONiC's tables assume")
    report.raise_errors()
    result = pipeline.headroom(
        chip,
        speed,
        length,
        mtu,
        traffic=traffic,
        switch=switch,
        lossless_mtu_bytes=rdma_mtu + ROCE_HEADERS_BYTES if rdma_mtu else LOSSLESS_MTU_BYTES,
    )
    if as_json:
        print(json_text(asdict(result)))
        return
    print(f"{switch or asic}, {speed}G, {length} m, MTU {mtu}")
    print("\n".join(explain(result)))


def _chip(report: Report, switch: str, asic: str, speed: int) -> Asic | None:
    """The chip that is meant, None for one without published figures; mistakes go to the report."""
    if bool(switch) == bool(asic):
        got = "both" if switch else "neither"
        mistake(report, "--switch", f"expected one of --switch and --asic, got {got}", "a switch names its chip by itself")
        return None
    if asic:
        chip = asics.asic(asic)
        if chip is None:
            hint = nearest(asics.asic_name(asic), asics.asic_names())
            mistake(report, "--asic", f"unknown chip {show(asic)}", hint, "FAB106")
        return chip
    box = catalog.switch(switch)
    if box is None:
        mistake(report, "--switch", f"unknown switch {show(switch)}", nearest(switch, catalog.switch_names()), "FAB106")
        return None
    if box.technology != "ethernet":
        hint = "InfiniBand is lossless by link credits: it has no PFC headroom"
        mistake(report, "--switch", f"expected an Ethernet switch, got {switch}", hint)
        return None
    if 1 <= speed <= FASTEST_GBPS and speed not in box.speeds:
        speeds = ", ".join(map(str, box.speeds))
        mistake(report, "--speed", f"expected a port speed of {switch}, got {speed}", f"its ports run at {speeds} Gb/s")
    return asics.asic(box.asic)
