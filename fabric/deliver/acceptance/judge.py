"""The verdict on an acceptance test: every run against its gates, runs of a step against each other, and what to do next.

A run fails where two sizes in a row, or the largest one, are below the gate, where values are wrong, or where it printed
nothing. Gates are as wide as estimates err. Runs of one step are equal by design and differ by a few percent only, so a
run that is far below the median of its step is an outlier though it passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Annotated

from fabric.base.diagnostics import Diagnostic, InputError
from fabric.base.grouping import grouped
from fabric.base.schemas.models import Amount, Count, Text, described, enum_of
from fabric.base.text import and_more, percent, plural, size
from fabric.deliver.acceptance.gates import CABLING, PERFTEST, Gates, Group, Program, Run, Step
from fabric.deliver.acceptance.logs import Logs, Measured
from fabric.deliver.acceptance.runs import kinds
from fabric.model.plan import FabricPlan
from fabric.solver.doctor.examine import examine
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.network import PortNamer, unnamed

PASS, FAIL, PARTIAL, NOT_RUN = "pass", "fail", "partial", "not run"
STATES = (PASS, FAIL, PARTIAL, NOT_RUN)
MIN_ALIKE = 4  # runs of a step that make a median
OUTLIER = 0.05  # below the median: published runs of equal servers of one cluster differ by less than 3 %
SPREADS = 4  # or so many robust standard deviations (1.4826 times the median deviation), if that is more


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One program of one run, on one device for perftest."""

    step: Text
    run: Text
    collective: Text
    device: str
    state: Annotated[str, enum_of(STATES)]
    message: Annotated[str, described("why it is no pass")]
    bytes: Annotated[Count, described("size that decides, or the largest one; 0 if not run")]
    measured_GBps: Amount
    pass_GBps: Amount
    expected_GBps: Amount
    file: str
    line: Count


@dataclass(frozen=True, kw_only=True)
class Outlier:
    """Servers or a leaf far below what their equals measure."""

    kind: Annotated[str, enum_of(("server", "leaf"))]
    names: tuple[str, ...]
    step: Text
    collective: Text
    below: Annotated[float, described("share below the median of the step")]
    runs: Annotated[Count, described("slow ones")]
    of: Annotated[Count, described("runs of the step that are equal by design")]


@dataclass(frozen=True, kw_only=True)
class StepState:
    step: Text
    state: Annotated[str, enum_of(STATES)]
    runs: Annotated[Count, described("programs of all runs")]
    passed: Count
    failed: Count
    partial: Count
    not_run: Count
    fails: Annotated[str, described("what a failure at this step means")]


@dataclass(frozen=True, kw_only=True)
class Judgment:
    """The outcome of an acceptance test."""

    site: Text
    fabric: Text
    state: Annotated[str, enum_of(STATES)]
    steps: tuple[StepState, ...]
    outcomes: tuple[Outcome, ...]
    outliers: tuple[Outlier, ...]
    next: tuple[str, ...]
    causes: tuple[str, ...] = ()  # of the first failure, by the doctor
    warnings: tuple[Diagnostic, ...] = ()


def judge(gates: Gates, logs: Logs, steps: Sequence[str] = ()) -> Judgment:
    """The verdict on the logs.

    Args:
        gates: what was planned.
        logs: what was measured; of a program that ran several times the last one counts.
        steps: judged alone; all if empty.
    """
    measured = {(item.run, item.collective, item.device): item for item in logs.measured}
    chosen = [step for step in gates.steps if not steps or step.step in steps]
    outcomes = [outcome for step in chosen for outcome in _outcomes(step, measured, logs)]
    states = tuple(_state(step, [item for item in outcomes if item.step == step.step]) for step in chosen)
    outliers = list[Outlier]()
    for step in chosen:
        for group in step.groups:
            slow = {names[0] for item in outliers if item.kind == "server" and len(names := item.names) == 1}
            outliers += _outliers(step, group, measured, slow)
    return Judgment(
        site=gates.site,
        fabric=gates.fabric,
        state=_worst(state.state for state in states),
        steps=states,
        outcomes=tuple(outcomes),
        outliers=tuple(outliers),
        next=tuple(_next(states, outcomes, outliers)),
        warnings=logs.warnings,
    )


def _worst(states: Iterable[str]) -> str:
    """The state of a whole: a failure, or that something is missing."""
    found = set(states)
    if found <= {PASS}:
        return PASS
    if FAIL in found:
        return FAIL
    return NOT_RUN if found <= {NOT_RUN} else PARTIAL


def _state(step: Step, outcomes: Sequence[Outcome]) -> StepState:
    counts = Counter(item.state for item in outcomes)
    return StepState(
        step=step.step,
        state=_worst(item.state for item in outcomes),
        runs=len(outcomes),
        passed=counts[PASS],
        failed=counts[FAIL],
        partial=counts[PARTIAL],
        not_run=counts[NOT_RUN],
        fails=step.text.fails,
    )


# --- one run --------------------------------------------------------------------------------------------------


def _outcomes(step: Step, measured: dict[tuple[str, str, str], Measured], logs: Logs) -> Iterator[Outcome]:
    if step.step == CABLING:
        yield _cabling(logs.cabling)
    for group in step.groups:
        for run in group.runs:
            for program in group.programs:
                for device in group.devices or ("",):
                    yield _outcome(step, run, program, device, measured.get((run.name, program.collective, device)))


def _cabling(faults: tuple[str, ...] | None) -> Outcome:
    state = NOT_RUN if faults is None else FAIL if faults else PASS
    message = f"{plural(len(faults), 'fault')}, first: {faults[0]}" if faults else ""
    return Outcome(
        step=CABLING,
        run=CABLING,
        collective="lldp",
        device="",
        state=state,
        message=message,
        bytes=0,
        measured_GBps=0,
        pass_GBps=0,
        expected_GBps=0,
        file="",
        line=0,
    )


def _outcome(step: Step, run: Run, program: Program, device: str, measured: Measured | None) -> Outcome:
    sizes = [] if measured is None else [at for at in sorted(measured.busbw_GBps) if program.gate(at) is not None]
    state, decisive, message = _verdict(program, measured, sizes)
    gate = program.gate(decisive) or program.gates[-1]
    return Outcome(
        step=step.step,
        run=run.name,
        collective=program.collective,
        device=device,
        state=state,
        message=message,
        bytes=decisive,
        measured_GBps=measured.busbw_GBps[decisive] if measured is not None and decisive else 0,
        pass_GBps=gate.pass_GBps,
        expected_GBps=gate.expected_GBps,
        file=measured.file if measured is not None else "",
        line=measured.line if measured is not None else 0,
    )


def _verdict(program: Program, measured: Measured | None, sizes: Sequence[int]) -> tuple[str, int, str]:
    """(state, size that decides, why it is no pass)."""
    if measured is None:
        return NOT_RUN, 0, ""
    if not sizes:
        return FAIL, 0, measured.mistake or "no size that has a gate was measured"
    if measured.wrong:
        return FAIL, sizes[-1], f"{measured.wrong:g} elements with a wrong value"
    low = [_below(program, measured, at) for at in sizes]
    failing = [at for at, is_low, before in zip(sizes, low, [False, *low], strict=False) if is_low and before]
    failing += [sizes[-1]] if low[-1] else []
    if failing:
        worst = min(failing, key=lambda at: measured.busbw_GBps[at] / _pass(program, at))
        return FAIL, worst, f"{percent(1 - measured.busbw_GBps[worst] / _pass(program, worst))} below its gate"
    if sizes[-1] < program.gates[-1].bytes:
        return PARTIAL, sizes[-1], f"ends at {size(sizes[-1])}, planned to {size(program.gates[-1].bytes)}"
    return PASS, sizes[-1], ""


def _pass(program: Program, bytes_: int) -> float:
    gate = program.gate(bytes_)
    return gate.pass_GBps if gate is not None else 0.0


def _below(program: Program, measured: Measured, bytes_: int) -> bool:
    return measured.busbw_GBps[bytes_] < _pass(program, bytes_)


# --- runs of a step beside each other -------------------------------------------------------------------------


def _outliers(step: Step, group: Group, measured: dict[tuple[str, str, str], Measured], known: set[str]) -> Iterator[Outlier]:
    """What the slow runs of a group have in common: a leaf whose runs are all slow, else servers.

    Args:
        known: servers that were slow alone, in a smaller step: they explain the runs that they take part in.
    """
    for program in group.programs:
        values = list(_values(group, program, measured))
        if len(values) < MIN_ALIKE:
            continue
        middle = median(value for _, value in values)
        spread = 1.4826 * median(abs(value - middle) for _, value in values)
        floor = middle - max(OUTLIER * middle, SPREADS * spread)
        slow = {run.name: value for run, value in values if value < floor}
        every = [run for run, _ in values]
        for kind, names, runs in _named(every, [run for run in every if run.name in slow], known):
            yield Outlier(
                kind=kind,
                names=names,
                step=step.step,
                collective=program.collective,
                below=1 - min(slow[run.name] for run in runs) / middle,
                runs=len(runs),
                of=len(values),
            )


def _values(group: Group, program: Program, measured: dict[tuple[str, str, str], Measured]) -> Iterator[tuple[Run, float]]:
    """busbw of each run at the largest size that all of them have; the slowest device of perftest."""
    found = list[tuple[Run, Measured]]()
    for run in group.runs:
        parts = [part for device in group.devices or ("",) if (part := measured.get((run.name, program.collective, device)))]
        found += [(run, part) for part in parts if part.busbw_GBps]
    common = set.intersection(*(set(part.busbw_GBps) for _, part in found)) if found else set()
    for run, parts in grouped((run, part) for run, part in found).items() if common else ():
        yield run, min(part.busbw_GBps[max(common)] for part in parts)


def _named(every: Sequence[Run], slow: Sequence[Run], known: set[str]) -> Iterator[tuple[str, tuple[str, ...], list[Run]]]:
    """(kind, names, slow runs) of each cause that runs have in common."""
    left = [run for run in slow if not known & {*run.servers}]
    for leaves, runs in grouped((run.leaves, run) for run in every).items():
        mine = [run for run in left if run.leaves == leaves]
        alone = len(leaves) == 1 and len(runs) == 1  # one rail of a unit
        if leaves and mine and len(mine) == len(runs) and (alone or len(runs) > 1) and len(slow) < len(every):
            yield "leaf", leaves, mine
            left = [run for run in left if run not in mine]
    left += [run for run in slow if known & {*run.servers}]
    healthy = {server for run in every if run not in slow for server in run.servers}
    for run in left:
        explained = tuple(server for server in run.servers if server in known)
        suspects = tuple(server for server in run.servers if server not in healthy)
        yield "server", explained or suspects or run.servers, [run]


# --- what to do next ------------------------------------------------------------------------------------------


def _next(states: Sequence[StepState], outcomes: Sequence[Outcome], outliers: Sequence[Outlier]) -> Iterator[str]:
    """The first step that is no pass decides: larger steps fail with it."""
    first = next((state for state in states if state.state != PASS), None)
    if first is None:
        if outliers:
            yield "every run passes; look at the outliers before the cluster is handed over"
        return
    if first.state == FAIL:
        yield f"step {first.step} fails: {first.fails}"
        runs = list(dict.fromkeys(item.run for item in outcomes if item.step == first.step and item.state == FAIL))
        if first.step != CABLING:
            others = f", {and_more(len(runs) - 1)}" if runs[1:] else ""
            yield f"after the repair: bash run.sh {runs[0]}{others}"
        return
    missing = sum(item.state in (NOT_RUN, PARTIAL) for item in outcomes if item.step == first.step)
    if first.step == CABLING:
        yield "run `fabric cabling verify` with `--format json=results/cabling.json`"
    else:
        yield f"step {first.step} is not complete ({plural(missing, 'test')} missing): bash step.sh {first.step}"


# --- causes of the first failure ------------------------------------------------------------------------------

MAX_CAUSES = 3


def with_causes(
    judgment: Judgment, logs: Logs, fabric: FabricPlan, request: EstimateRequest, port_name: PortNamer = unnamed
) -> Judgment:
    """The verdict with what the doctor says of the first failure of nccl-tests, at the place where it ran."""
    failed = (item for item in judgment.outcomes if item.state == FAIL and item.bytes and item.collective != PERFTEST)
    first = next(failed, None)
    if first is None:
        return judgment
    measured = next(part for part in reversed(logs.measured) if (part.run, part.collective) == (first.run, first.collective))
    kind = next((kind for kind in kinds(fabric) if measured.servers <= {server.name for server in kind.servers}), None)
    if kind is None:
        return judgment
    try:
        texts = [(measured.file, measured.text)]
        found = examine(kind.fabric, texts, request, port_name, slow=True, placement=",".join(sorted(measured.servers)))
    except InputError as error:
        return replace(judgment, causes=tuple(item.message for item in error.diagnostics))
    suspects = found.suspects[:MAX_CAUSES]
    titles = tuple(f"{item.cause.title} ({percent(item.share)}); confirm: {item.cause.confirm}" for item in suspects)
    return replace(judgment, causes=titles)
