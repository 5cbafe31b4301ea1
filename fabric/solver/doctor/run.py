"""Files of a run on a fabric of a plan: their tables become curves beside their estimates, their text is evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.model.plan import FabricPlan
from fabric.solver import PortNamer, unnamed
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.collectives.job import Job, measured_job
from fabric.solver.collectives.physics import Physics
from fabric.solver.collectives.reach import band_of
from fabric.solver.doctor.diagnosis import Curve, Diagnosis, Setting, cost_of, diagnose
from fabric.solver.doctor.evidence import Evidence
from fabric.solver.doctor.files import gather
from fabric.solver.estimate.estimate import ctas_of, job_of, pattern_of
from fabric.solver.estimate.platform_file import platform
from fabric.solver.estimate.probe import job_group, platform_of
from fabric.solver.estimate.request import EstimateRequest, supply_of
from fabric.solver.measured import stated
from fabric.solver.measured.platform import MeasuredPlatform
from fabric.solver.measured.tables import Table

NO_FILE = "FAB001"  # what was named is not there
NO_TIMES = (
    "no times are given: the causes are by the text alone, of a run that is slow; give the output of nccl-tests as well"
)
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

        Raises: InputError: a file that is not there, neither a table that can be compared nor a line that is known, or
        a run that does
            not fit the fabric. A table that cannot be read beside others is an error among the warnings of the diagnosis, a
            file in which nothing is known a warning.
    """
    gathered = gather(paths, platform_of(fabric), given)
    tables, unread = gathered.tables, [*gathered.mistakes]
    scored = [table for table in tables if table.scored_rows]
    if any(item.code == NO_FILE for item in unread) or (unread and not scored):
        raise InputError(unread)
    evidence = Evidence(gathered.text)
    if not scored and not gathered.known:
        reason = next((table.why_not for table in tables if table.why_not), "the files have no table of times")
        hint = "give the output of a program of nccl-tests, or one number as --busbw all_reduce:16:1G:27"
        place = Place(str(paths[0]) if paths else "LOG")
        raise InputError([*gathered.unused, Diagnostic("FAB172", place, f"no run to compare: {reason}", hint)])
    parameters = platform(request.platform)
    curves = [_curve(fabric, table, request, parameters, port_name) for table in scored or [_untimed(fabric)]]
    spec = fabric.spec
    setting = Setting(
        planes=max(spec.planes, job_group(fabric).nic.ports),
        rails=spec.kind in ("rail-optimized", "rail-only"),
        ecmp=request.routing == "ecmp",
        nics=job_group(fabric).nic.count,
        nic_gbps=float(job_group(fabric).nic.speed_gbps),
        gpus=job_group(fabric).server.gpus,
    )
    diagnosis = diagnose(curves, parameters, evidence, setting, slow or not scored)
    advice = ADVICE if diagnosis.suspects and scored and not gathered.known else "" if scored else NO_TIMES
    warnings = (*(item for table in tables for item in table.warnings), *gathered.unused, *unread)
    return replace(diagnosis, warnings=warnings, advice=advice, timed=bool(scored), settings=cost_of(curves, parameters))


def _untimed(fabric: FabricPlan) -> Table:
    """An all_reduce of the whole fabric of which no time is given: a log alone tells of its causes."""
    group = job_group(fabric)
    ran = replace(platform_of(fabric), nodes=group.count)
    return Table(id="log", collective=ALL_REDUCE, platform=ran, source="", rows=(), scored=True)


def _curve(fabric: FabricPlan, table: Table, request: EstimateRequest, parameters: Physics, port_name: PortNamer) -> Curve:
    sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
    times = np.array([row.time_us for row in table.scored_rows])
    job, beyond_leaf = _job(fabric, table, request, port_name)
    ran, nvls = table.platform, bool(job.nvls)
    job = replace(job, nvls=nvls and ran.nvls is not False)
    low, high = band_of(job.of(sizes), parameters, ran.algorithm, ran.protocol)
    return Curve(
        name=table.id,
        job=job.of(sizes),
        measured_us=times,
        low=low,
        high=high,
        algorithm=ran.algorithm,
        protocol=ran.protocol,
        beyond_leaf=beyond_leaf,
        set_by=_set_by(ran),
        nvls=nvls,
    )


def _set_by(ran: MeasuredPlatform) -> str:
    """The variables of NCCL that fix a run, as a shell sets them."""
    words = {
        "NCCL_ALGO": "" if ran.algorithm == "auto" else ran.algorithm,
        "NCCL_PROTO": "" if ran.protocol == "auto" else ran.protocol,
        "NCCL_NVLS_ENABLE": "0" if ran.nvls is False else "",
        "NCCL_MIN_CTAS": ran.min_ctas or "",
    }
    return " ".join(f"{key}={word}" for key, word in words.items() if word)


def _job(fabric: FabricPlan, table: Table, request: EstimateRequest, port_name: PortNamer) -> tuple[Job, bool]:
    """The run on the plan's network, with NVLS where the GPUs can, and whether it leaves the leaves; on some GPUs of
    each server a network without bottlenecks."""
    ran, sizes = replace(table.platform, nvls=None), [row.bytes for row in table.scored_rows]
    if ran.gpus_per_node != job_group(fabric).server.gpus:
        return measured_job(table.collective, ran, np.array(sizes, dtype=np.float64)), True
    supply = supply_of(fabric, replace(request, gpus=ran.ranks), "packed", port_name)
    job = replace(job_of(table.collective, sizes, supply, ran.algorithm), ctas=float(ran.ctas(ctas_of(supply))))
    pattern = pattern_of(table.collective, "ring")
    beyond = supply.placement.domains > 1 and supply.beyond_leaf(pattern) > 0
    return job, beyond
