"""`fabric headroom`: the buffer that a lossless priority needs on one port, term by term."""

from __future__ import annotations

import typer

from fabric import pipeline
from fabric.base.diagnostics import Report, nearest, show
from fabric.base.formats import json_text
from fabric.base.schemas.models import document
from fabric.cli.common import check_range, mistake, option
from fabric.cli.output import put_lines
from fabric.hardware import catalog
from fabric.hardware.catalog import asics
from fabric.hardware.catalog.asics import Asic
from fabric.hardware.headroom import explain
from fabric.hardware.headroom_formulas import LOSSLESS_MTU_BYTES, ROCE_HEADERS_BYTES

MAX_CABLE_M, MAX_GBPS = 100_000, 12_800  # as in an intent
MTU_RANGE = (256, 16_384)


def headroom(
    switch: str = option("", "--switch", "MODEL", "switch model of the catalog"),
    asic: str = option("", "--asic", "NAME", "switch ASIC, instead of --switch"),
    speed: int = option(..., "--speed", "GBPS", "port speed in Gb/s"),
    length: int = option(..., "--length", "METRES", "cable length in m"),
    mtu: int = option(9216, "--mtu", "BYTES", "maximum frame size of the port"),
    rdma_mtu: int = option(0, "--rdma-mtu", "BYTES", "RDMA path MTU; designs use 4096", shown="1024, as in published tables"),
    traffic: str = option("static", "--traffic", "KIND", "static (all packets 64 bytes) or dynamic (half of the packets)"),
    as_json: bool = typer.Option(False, "--json", help="print one JSON document"),
) -> None:
    """Compute the PFC headroom of a port.

    Prints every term of the sum, with its source.
    """
    report = Report()
    chip = _chip(report, switch, asic, speed)
    ranges = {
        "--speed": (speed, 1, MAX_GBPS, "Gb/s"),
        "--length": (length, 0, MAX_CABLE_M, "m"),
        "--mtu": (mtu, *MTU_RANGE, "bytes"),
        "--rdma-mtu": (rdma_mtu or 1024, 256, 4096, "bytes"),
    }
    for flag, (value, lowest, highest, unit) in ranges.items():
        check_range(
            report, flag, value, lowest, highest, f"{lowest} to {highest} {unit}", hint=f"the unit of {flag} is {unit}"
        )
    if traffic not in ("static", "dynamic"):
        hint = "use `static` for the assumption of SONiC's tables"
        mistake(report, "--traffic", f"expected static or dynamic, got {traffic!r}", hint)
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
        print(json_text(document(result)))
        return
    head = f"{switch or asic}, {speed}G, {length} m, MTU {mtu}"
    put_lines(lambda: [head, *explain(result)])


def _chip(report: Report, switch: str, asic: str, speed: int) -> Asic | None:
    """The requested ASIC, None for one without published figures; errors go to the report."""
    if bool(switch) == bool(asic):
        got = "both" if switch else "neither"
        mistake(
            report,
            "--switch",
            f"expected one of --switch and --asic, got {got}",
            "use --switch MODEL or --asic NAME; --switch implies the ASIC",
        )
        return None
    if asic:
        chip = asics.asic(asic)
        if chip is None:
            hint = nearest(asics.asic_name(asic), asics.asic_names())
            mistake(report, "--asic", f"unknown ASIC {show(asic)}", hint, "FAB106")
        return chip
    model = catalog.switch(switch)
    if model is None:
        mistake(report, "--switch", f"unknown switch {show(switch)}", nearest(switch, catalog.switch_names()), "FAB106")
        return None
    if model.technology != "ethernet":
        hint = "InfiniBand is lossless by link credits: it has no PFC headroom"
        mistake(report, "--switch", f"expected an Ethernet switch, got {switch}", hint)
        return None
    if 1 <= speed <= MAX_GBPS and speed not in model.speeds:
        speeds, more = ", ".join(map(str, model.speeds)), "; others are not known to the catalog: --asic has no such limit"
        hint = f"its ports support {speeds} Gb/s" + ("" if model.breakouts_complete else more)
        mistake(report, "--speed", f"expected a port speed of {switch}, got {speed}", hint)
    return asics.asic(model.asic)
