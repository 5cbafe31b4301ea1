"""Files of a run on a fabric of a plan: their tables become curves beside their estimates, their text is evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fabric.diagnostics import Diagnostic, InputError, Place
from fabric.plan import FabricPlan
from fabric.reading import whole_lines
from fabric.solver import PortNamer, read_text, unnamed
from fabric.solver.collectives.job import Job, measured_job
from fabric.solver.collectives.physics import Physics
from fabric.solver.doctor import outputs
from fabric.solver.doctor.diagnosis import Curve, Diagnosis, Setting, diagnose
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.estimate.estimate import band_of, ctas_of, job_of, pattern_of
from fabric.solver.estimate.platform_file import platform
from fabric.solver.estimate.probe import job_group, platform_of
from fabric.solver.estimate.request import EstimateRequest, supply_of
from fabric.solver.measured import stated, tables as measured
from fabric.solver.measured.tables import Table

WHAT = "output of nccl-tests"
NO_FILE = "FAB001"  # what was named is not there
LOG = "NCCL INFO"  # in a text that may have no table
ADVICE = (
    "times alone do not separate causes that slow the same part; give a log of NCCL_DEBUG=INFO, or the output of "
    "nvidia-smi topo -m, ibstat, sudo lspci -vvv or ib_write_bw, as further files"
)


def examine(
    fabric: FabricPlan,
    paths: Sequence[Path],
    request: EstimateRequest,
    port_name: PortNamer = unnamed,
    given: Sequence[stated.Measured] = (),
    slow: bool = False,
) -> Diagnosis:
    """Where measured times are above the band of the estimate, and the causes.

    Args:
        fabric: where the run took place.
        paths: output of nccl-tests, logs of NCCL_DEBUG=INFO, and output of the commands of `outputs`.
        request: routing, queue pairs, failures and platform file; GPUs are those of each table.
        given: single measured bandwidths, as further tables.
        slow: the run is known to be slow, so that it is not healthy though its times lie in the band.

    Raises:
        InputError: a file that is not there, no table that can be compared, or a run that does not fit the fabric. A file
            that cannot be read beside others is an error among the warnings of the diagnosis.
    """
    tables, texts, unread = stated.tables(given, platform_of(fabric)), list[str](), list[Diagnostic]()
    for path in paths:
        try:
            text = whole_lines(read_text(path, WHAT))
        except InputError as error:
            unread += error.diagnostics
            continue
        texts.append(text)
        try:
            tables += measured.read(path, str(path), platform_of(fabric))
        except InputError as error:
            if LOG not in text and not outputs.known(text):
                unread += error.diagnostics
    scored = [table for table in tables if table.scored_rows]
    if unread and (not scored or any(item.code == NO_FILE for item in unread)):
        raise InputError(unread)
    if not scored:
        reason = next((table.why_not for table in tables if table.why_not), "the files have no table of times")
        hint = "give the output of a program of nccl-tests, or one number as --busbw all_reduce:16:1G:27"
        place = Place(str(paths[0]) if paths else "LOG")
        raise InputError([Diagnostic("FAB172", place, f"no run to compare: {reason}", hint)])
    parameters = platform(request.platform)
    curves = [_curve(fabric, table, request, parameters, port_name) for table in scored]
    spec = fabric.spec
    setting = Setting(
        planes=max(spec.planes, job_group(fabric).nic.ports),
        rails=spec.kind in ("rail-optimized", "rail-only"),
        ecmp=request.routing == "ecmp",
        nics=job_group(fabric).nic.count,
        nic_gbps=float(job_group(fabric).nic.speed_gbps),
        gpus=job_group(fabric).server.gpus,
    )
    text = "\n".join(texts)
    found = diagnose(curves, parameters, Evidence(text), setting, slow)
    alone = found.suspects and LOG not in text and not outputs.known(text)
    warnings = (*(item for table in tables for item in table.warnings), *unread)
    return replace(found, warnings=warnings, advice=ADVICE if alone else "")


def _curve(fabric: FabricPlan, table: Table, request: EstimateRequest, parameters: Physics, port_name: PortNamer) -> Curve:
    sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
    times = np.array([row.time_us for row in table.scored_rows])
    job, beyond_leaf = _job(fabric, table, request, port_name)
    low, high = band_of(job.of(sizes), parameters)
    ran = table.platform
    return Curve(table.id, job.of(sizes), times, low, high, ran.algorithm, ran.protocol, beyond_leaf)


def _job(fabric: FabricPlan, table: Table, request: EstimateRequest, port_name: PortNamer) -> tuple[Job, bool]:
    """The run on the plan's network, and whether it leaves the leaves; on some GPUs of each server a network without
    bottlenecks."""
    ran, sizes = table.platform, [row.bytes for row in table.scored_rows]
    if ran.gpus_per_node != job_group(fabric).server.gpus:
        return measured_job(table.collective, ran, np.array(sizes, dtype=np.float64)), True
    supply = supply_of(fabric, replace(request, gpus=ran.ranks), "packed", port_name)
    ctas = ran.min_ctas or ctas_of(supply)
    job = replace(job_of(table.collective, sizes, supply, ran.algorithm), ctas=float(ctas))
    pattern = pattern_of(table.collective, "ring")
    beyond = supply.placement.domains > 1 and supply.beyond_leaf(pattern) > 0
    return (job if ran.nvls is not False else replace(job, nvls=False)), beyond
