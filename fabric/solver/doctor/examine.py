"""Examines the files of a run on a fabric of a plan: tables become curves beside their estimates, texts are evidence.

A file is read for what it is. One with rows of nccl-tests, or a table in YAML or JSON, is a table, and a mistake in it
is one. Any other text is evidence: a log, the output of a command, a job script. NCCL's variables of a text without
rows hold for every run that does not state its own, those beside rows for these rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.reading import text_of, whole_lines
from fabric.base.text import aligned, percent, plural, size, wrapped
from fabric.model.plan import FabricPlan
from fabric.solver import PortNamer, unnamed
from fabric.solver.collective import ALL_REDUCE
from fabric.solver.collectives.band import band_of
from fabric.solver.collectives.job import Job, measured_job
from fabric.solver.collectives.physics import Physics
from fabric.solver.doctor.causes import Next, causes
from fabric.solver.doctor.diagnosis import Cost, Curve, Diagnosis, Setting, cost_of, diagnose
from fabric.solver.doctor.evidence import Evidence, is_known_output
from fabric.solver.estimate.estimate import ctas_of, job_of, pattern_of
from fabric.solver.estimate.placement import ALL, ServerPart
from fabric.solver.estimate.platform import job_group, platform, platform_of
from fabric.solver.estimate.request import EstimateRequest, supply_of
from fabric.solver.measured import output, output as raw, tables
from fabric.solver.measured.platform import MeasuredPlatform, variables
from fabric.solver.measured.run import forced
from fabric.solver.measured.tables import Table, tables_in as measured_tables

MAX_NICS = 1024
WHAT = "output of nccl-tests"
LOG = "NCCL INFO"
_KEYS = re.compile(r"^[ \t]{0,4}[\"']?(?:rows|collective|not_scored)[\"']?[ \t]*:", re.MULTILINE)  # of a table in YAML
HINT = "the doctor knows nccl-tests, NCCL_DEBUG=INFO, job scripts with NCCL's variables, and the commands of docs/doctor.md"


@dataclass
class Gathered:
    """The files of a run."""

    tables: list[Table] = field(default_factory=list)
    text: str = ""  # of all files
    known: bool = False  # some text says something of the run beside its times
    mistakes: list[Diagnostic] = field(default_factory=list)  # of files that are not there, and of tables
    unused: list[Diagnostic] = field(default_factory=list)  # files in which nothing is known, as warnings


NamedText = tuple[str, str]  # name in messages, text


def _read(file: Path | NamedText) -> str:
    return text_of(file, WHAT) if isinstance(file, Path) else file[1]


def _name(file: Path | NamedText) -> str:
    return str(file) if isinstance(file, Path) else file[0]


def gather(files: Sequence[Path | NamedText], platform: MeasuredPlatform, given: Sequence[tables.Measured] = ()) -> Gathered:
    """Every file for what it is, and single numbers as tables. Variables of texts without rows are those of all runs."""
    gathered, texts, shared = Gathered(tables.stated_tables(given, platform)), list[str](), dict[str, str]()
    for file in files:
        name = _name(file)
        try:
            read = _read(file)
        except InputError as error:
            gathered.mistakes += error.diagnostics
            continue
        text = whole_lines(read)
        texts.append(text)
        known = says_something(text)
        gathered.known |= known
        if not is_table(text):
            shared |= variables(text)
            gathered.unused += [] if known else [_unused(name)]
            continue
        try:
            gathered.tables += measured_tables(read, name, platform)
        except InputError as error:
            gathered.mistakes += error.diagnostics
    gathered.text = "\n".join(texts)
    gathered.tables = [with_variables(table, shared, gathered.text) for table in gathered.tables]
    return gathered


def is_table(text: str) -> bool:
    """Whether a text has rows of times, or keys of a document that has some."""
    return raw.is_raw(text) or output.is_json(text) or _KEYS.search(text) is not None


def says_something(text: str) -> bool:
    """Whether a text says something of a run beside its times."""
    if LOG in text or is_known_output(text) or variables(text):
        return True
    evidence = Evidence(text)
    return any(evidence.points_to(cause) or any(sign.pattern.search(text) for sign in cause.excludes) for cause in causes())


def with_variables(table: Table, shared: Mapping[str, str], text: str) -> Table:
    """A table with the variables of its run. A limit of channels is a cause (`few_channels`), not a setting of a
    healthy run. Groups at the same time are compared with the plan, whose links they share."""
    ran = forced(shared, table.platform, table.collective)
    if {"MAX_CTAS", "MAX_NCHANNELS"} & set(variables(text)):
        ran = replace(ran, max_ctas=None)
    return replace(table, platform=ran, scored=table.scored or ran.communicators > 1)


def _unused(name: str) -> Diagnostic:
    message = "no table of times and no line that is known: the file was not used"
    return Diagnostic("FAB172", Place(name), message, HINT, "warning")


# --- curves beside their estimates ----------------------------------------------------------------------------

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
    files: Sequence[Path | NamedText],
    request: EstimateRequest,
    port_name: PortNamer = unnamed,
    given: Sequence[tables.Measured] = (),
    slow: bool = False,
    *,
    placement: str = "packed",
) -> Diagnosis:
    """Where measured times are above the band of the estimate, and the causes.

    Args:
        fabric: where the run took place.
        files: output of nccl-tests, logs of NCCL_DEBUG=INFO, and output of the commands of `outputs`; or their texts.
        request: routing, queue pairs, failures and platform file; GPUs are those of each table.
        given: single measured bandwidths, as further tables.
        slow: the run is known to be slow, so that it is not healthy though its times lie in the band.
        placement: of every run, as of `estimate`.

        Raises: InputError: a file that is not there, neither a table that can be compared nor a line that is known, or
        a run that does
            not fit the fabric. A table that cannot be read beside others is an error among the warnings of the diagnosis, a
            file in which nothing is known a warning.
    """
    gathered = gather(files, platform_of(fabric), given)
    tables, unread = gathered.tables, [*gathered.mistakes]
    scored = [table for table in tables if table.scored_rows]
    if any(item.code == NO_FILE for item in unread) or (unread and not scored):
        raise InputError(unread)
    evidence = Evidence(gathered.text)
    if not scored and not gathered.known:
        reason = next((table.why_not for table in tables if table.why_not), "the files have no table of times")
        hint = "give the output of a program of nccl-tests, or one number as --busbw all_reduce:16:1G:27"
        place = Place(_name(files[0]) if files else "LOG")
        raise InputError([*gathered.unused, Diagnostic("FAB172", place, f"no run to compare: {reason}", hint)])
    parameters = platform(request.platform)
    curves = [_curve(fabric, table, request, parameters, port_name, placement) for table in scored or [_untimed(fabric)]]
    spec = fabric.spec
    setting = Setting(
        planes=max(spec.planes, job_group(fabric).nic.ports),
        rails=spec.kind in ("rail-optimized", "rail-only"),
        ecmp=request.routing == "ecmp",
        nics=min(job_group(fabric).nic.count, max((item.platform.nics_per_node for item in scored), default=0) or MAX_NICS),
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


def _curve(
    fabric: FabricPlan,
    table: Table,
    request: EstimateRequest,
    parameters: Physics,
    port_name: PortNamer,
    placement: str,
) -> Curve:
    sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
    times = np.array([row.time_us for row in table.scored_rows])
    job, beyond_leaf = _job(fabric, table, request, port_name, placement)
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


def _job(
    fabric: FabricPlan, table: Table, request: EstimateRequest, port_name: PortNamer, placement: str
) -> tuple[Job, bool]:
    """The run on the plan's network, with NVLS where the GPUs can, and whether it leaves the leaves. Of a run on some
    GPUs of each server the NICs beside these; in one server a network without bottlenecks."""
    ran, sizes = replace(table.platform, nvls=None), [row.bytes for row in table.scored_rows]
    whole = ran.gpus_per_node == job_group(fabric).server.gpus
    if not whole and (ran.nodes == 1 or ran.gpus_per_node > job_group(fabric).server.gpus):
        return measured_job(table.collective, ran, np.array(sizes, dtype=np.float64)), True
    ids = ran.gpu_ids if ran.communicators == 1 else ()
    part = ALL if whole else ServerPart(ran.gpus_per_node, ids, ran.communicators)
    supply = supply_of(fabric, replace(request, gpus=ran.ranks, part=part), placement, port_name)
    job = replace(job_of(table.collective, sizes, supply, ran.algorithm), ctas=float(ran.ctas(ctas_of(supply))))
    pattern = pattern_of(table.collective, "ring")
    beyond = supply.placement.domains > 1 and supply.beyond_leaf(pattern) > 0
    return job, beyond


# --- the diagnosis for a person -------------------------------------------------------------------------------

WIDTH = 100


def lines(diagnosis: Diagnosis) -> list[str]:
    """Where the curves leave the band, and the causes in order with the command that confirms each."""
    out = _spans(diagnosis) if diagnosis.timed else ["no times: the causes of a slow run by what the files say"]
    out += [f"{item.curve}: {_cost(item)}" for item in diagnosis.settings]
    if not diagnosis.suspects:
        verdict = "healthy: no cause explains the measured times better than the error of the estimate"
        return [*out, *([""] if out else []), f"{verdict} ({percent(diagnosis.healthy)})"]
    healthy = f" ({percent(diagnosis.healthy)} that the run is healthy)" if diagnosis.timed else ""
    out += ["", f"likely causes in order{healthy}"]
    for number, suspect in enumerate(diagnosis.suspects, 1):
        cause = suspect.cause
        out += ["", *wrapped(f"{number}. {cause.title} ({percent(suspect.share)})", WIDTH)]
        rows = [("confirm", cause.confirm), ("source", cause.source)]
        if suspect.evidence:
            rows.insert(0, ("log", suspect.evidence))
        out += [f"   {line}" for line in aligned(rows)]
    if diagnosis.tests:
        out += ["", *_tests(diagnosis)]
    return [*out, "", *wrapped(diagnosis.advice, WIDTH)] if diagnosis.advice else out


def _cost(cost: Cost) -> str:
    """What the variables of a run cost."""
    times = f"{cost.slower:.1f} times the estimate of NCCL's own choice at {size(cost.bytes)}"
    return f"the estimate is with {cost.variables}, {times}: unset what is not needed"


def _tests(diagnosis: Diagnosis) -> list[str]:
    """The test to make next, what each outcome means, and the next best ones."""
    first, *others = diagnosis.tests
    share = percent(diagnosis.suspects[0].share)
    undecided = f"undecided: the first cause has {share}; next test:"
    rows = [("run", _with_time(first))]
    rows += [("if", f"{outcome}: {', '.join(causes)}") for outcome, causes in first.outcomes]
    rows.append(("else", "another cause"))
    rows += [
        ("or" if at == 0 else "", f"{test.command} ({plural(test.minutes, 'minute')})") for at, test in enumerate(others)
    ]
    return [undecided, *(f"   {line}" for line in aligned(rows))]


def _with_time(test: Next) -> str:
    return f"{test.command} ({plural(test.minutes, 'minute')})"


def _spans(diagnosis: Diagnosis) -> list[str]:
    rows = [
        (span.curve, f"{size(span.first_bytes)} to {size(span.last_bytes)}", f"{span.slower:.1f} times the estimate")
        for span in diagnosis.spans
    ]
    head = ("table", "slower than 9 of 10 runs", "median")
    return aligned(rows, "<<<", head=head) if rows else ["all sizes within the band"]
