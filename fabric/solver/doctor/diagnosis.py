"""Which cause explains measured times best: likelihood of the curve with each cause, times what the log says.

The logarithm of measured over estimated time has the mean and spread of the band at each size, and a heavy tail (Student's
t). The sizes of one run err alike: a run is as a whole faster or slower than estimated, and neighboring sizes more so.
A cause changes the estimate. Bayes' rule gives the share of each cause and of a healthy run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fabric.base.diagnostics import Diagnostic
from fabric.base.schemas.models import Amount, Count, Document, Share, json_key
from fabric.solver import Floats
from fabric.solver.collectives import physics
from fabric.solver.collectives.algorithms import NEVER, monotone
from fabric.solver.collectives.job import Job
from fabric.solver.collectives.physics import Physics
from fabric.solver.doctor.causes import TAIL, Cause, Effect, Next, advised, causes
from fabric.solver.doctor.evidence import Design, Evidence, Finding, log_findings, output_findings
from fabric.solver.measured.platform import ALGORITHMS
from fabric.solver.measured.run import tuning_of

HEALTHY = 0.8  # share of healthy runs before anything was measured
SUSPECT = 0.5  # causes are named where a healthy run has a lower share
MIN_SHARE = 0.03  # of a cause that is listed
MIN_LISTED, MAX_LISTED = 3, 5  # priors are judgments: the next causes are listed beside one with nearly all of the share
BETWEEN = 3  # severities between two neighbors of `causes.yaml`
FORCED_TIMES = (0.8, 1.0, 1.25, 1.6)  # of the estimate, which has few runs of algorithms that NCCL does not choose
COSTLY = 1.1  # a variable that makes a run so much slower is reported
DECIDED = 0.8  # no further test is advised where the first cause has this share
# Parts of the variance of errors on sources that were left out of the fit (docs/doctor.md): common to a run, common to
# neighboring sizes, and of a single size.
WHOLE, NEAR, OWN = 0.42, 0.48, 0.1
REACH = 4.0  # doublings of the size over which the correlation of sizes falls to 1/e
FREEDOM = 5.0  # degrees of freedom of Student's t
NORMAL_P90 = 1.2816
MIB = 1 << 20
CHANGED = ("nvlink_GBps", "net_GBps", "nic_GBps", "ctas", "nvls", "peers_share", "hop_us")  # fields of a job that effects set
PLUGIN = ("efa", "efa1", "tcpx", "tcpxo", "slingshot")  # transports that NCCL reaches by a plugin only


@dataclass(frozen=True, slots=True)
class ByIdentity:
    """Makes an object with arrays a key by its identity, and keeps it alive."""

    what: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.what is other.what

    def __hash__(self) -> int:
        return id(self.what)


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve:
    """One measured table beside its estimate."""

    name: str
    job: Job  # its sizes are the measured ones
    measured_us: Floats
    low: Floats  # 10th and 90th percentile of the time over the estimate
    high: Floats
    algorithm: str = "auto"
    protocol: str = "auto"
    beyond_leaf: bool = True  # some of its traffic leaves the sender's leaf, so that ECMP has a choice
    set_by: str = ""  # variables of NCCL that force an algorithm, a protocol or channels
    nvls: bool = False  # the switch of the NVLink domain can reduce, but the variables disable it
    known: dict[tuple[object, ...], Floats] = field(default_factory=dict, repr=False)  # estimates by their arguments

    def estimate(self, parameters: Physics, effect: Effect | None = None) -> Floats:
        """µs of every size; what runs is chosen for the network without the cause, but never NVLS where it is off."""
        key = (ByIdentity(self.job), ByIdentity(parameters), self.algorithm, self.protocol, effect)
        if key not in self.known:
            self.known[key] = self._estimate(parameters, effect)
        return self.known[key]

    def _estimate(self, parameters: Physics, effect: Effect | None) -> Floats:
        if effect is None:
            return monotone(self.job, parameters, self.algorithm, self.protocol)[1]
        changed = effect.on(self.job)
        chosen_for = replace(self.job.healthy(), nvls=changed.nvls)
        algorithm = effect.algorithm if effect.algorithm and self.algorithm == "auto" else self.algorithm
        times = monotone(changed, parameters, algorithm, self.protocol, chosen_for)[1]
        if effect.algorithm and (times >= NEVER).any():  # where it cannot run NCCL chooses another one
            times = self.estimate(parameters)
        large = np.asarray(self.job.bytes) >= effect.above_MiB * MIB
        return np.asarray(np.where(large, times * effect.time, times))


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the design has that a cause needs."""

    planes: int = 1
    rails: bool = True
    ecmp: bool = True
    nics: int = 0  # of a server, 0 where they are not known
    nic_gbps: float = 0.0  # of one port, 0 where it is not known
    gpus: int = 0  # of a server, 0 where they are not known


@dataclass(frozen=True)
class Span:
    """Neighboring sizes at which a curve is slower than its band."""

    curve: str
    first_bytes: int
    last_bytes: int
    slower: float  # median of measured over estimated time


@dataclass(frozen=True)
class Suspect:
    """A cause and its share among all explanations."""

    cause: Cause
    share: float
    evidence: str = ""  # line or variable that points to it


@dataclass(frozen=True)
class Cost:
    """What the variables of a run cost it by the estimate."""

    curve: str
    variables: str
    bytes: int
    slower: float  # estimated time with the variables over that without


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What was measured against what was estimated."""

    spans: tuple[Span, ...]
    suspects: tuple[Suspect, ...]  # the most likely first, () for a healthy run
    healthy: float  # share of a healthy run
    warnings: tuple[Diagnostic, ...] = ()  # about the tables, such as other GPUs than those of the design
    advice: str = ""  # further input that would help, "" for none
    tests: tuple[Next, ...] = ()  # the most informative per minute; none where one cause has most of the share
    timed: bool = True  # False: there are no times, causes follow from the text alone
    settings: tuple[Cost, ...] = ()  # variables that make a run slower than NCCL's own choice


def diagnose(
    curves: Sequence[Curve], parameters: Physics, evidence: Evidence, setting: Setting, slow: bool = False
) -> Diagnosis:
    """The causes of slow curves of one cluster, which has one cause at a time; `slow`: the run is known not to be healthy."""
    healthy = sum(_likelihood(curve, curve.estimate(parameters)) for curve in curves)
    nvlink = any(not curve.job.pcie and float(curve.job.domain) > 1 for curve in curves)
    crosses = any(bool(curve.job.crosses) for curve in curves)
    findings = [
        *output_findings(evidence.text, setting.nics, setting.nic_gbps, nvlink),
        *log_findings(evidence.text, Design(min(setting.nics, int(_gpus(curves))), setting.nic_gbps, nvlink, crosses)),
    ]
    case = _Case(curves=curves, parameters=parameters, evidence=evidence, setting=setting, findings=findings)
    candidates = [candidate for cause in causes() if (candidate := _candidate(cause, case))]
    every = math.log(HEALTHY / (1 - HEALTHY) * math.fsum(item.prior for item in candidates))
    each = np.array([-math.inf if slow else every + healthy, *(math.log(item.prior) + item.log for item in candidates)])
    share, *shares = map(float, np.exp(each - np.logaddexp.reduce(each)))
    suspects = [Suspect(item.cause, of_cause, item.line) for item, of_cause in zip(candidates, shares, strict=True)]
    order = sorted(suspects, key=lambda item: (-item.share, item.cause.name))
    listed = [item for at, item in enumerate(order[:MAX_LISTED]) if at < MIN_LISTED or item.share >= MIN_SHARE]
    tests: tuple[Next, ...] = ()
    if share < SUSPECT and max(shares) < DECIDED:
        every_share = {"": share, **{item.cause.name: item.share for item in suspects}}
        tests = advised(every_share, _has(curves, setting), evidence.text, MIN_SHARE)
    return Diagnosis(
        spans=tuple(span for curve in curves for span in spans(curve, parameters)),
        suspects=tuple(listed) if share < SUSPECT else (),
        healthy=share,
        tests=tests,
    )


def cost_of(curves: Sequence[Curve], parameters: Physics) -> tuple[Cost, ...]:
    """The size at which the variables of each run cost most, where that is a tenth of the time or more."""
    costs = []
    for curve in curves:
        if not curve.set_by or not len(curve.job.bytes):
            continue
        free = replace(curve.job, nvls=curve.job.nvls or curve.nvls)
        ratio = curve.estimate(parameters) / monotone(free, parameters)[1]
        worst = int(np.argmax(ratio))
        if ratio[worst] >= COSTLY:
            costs.append(Cost(curve.name, curve.set_by, int(curve.job.bytes[worst]), float(ratio[worst])))
    return tuple(costs)


def _has(curves: Sequence[Curve], setting: Setting) -> frozenset[str]:
    """What the design has, of NEEDS, that a run used."""
    return frozenset(name for curve in curves for name, here in features(curve, setting).items() if here)


@dataclass(frozen=True, kw_only=True)
class _Case:
    """What all causes are judged by."""

    curves: Sequence[Curve]
    parameters: Physics
    evidence: Evidence
    setting: Setting
    findings: Sequence[Finding]


@dataclass(frozen=True)
class _Candidate:
    """A cause that the measured curves can have."""

    cause: Cause
    prior: float
    log: float  # logarithm of its likelihood, given the curves and the evidence
    line: str  # evidence that points to it


@dataclass(frozen=True)
class _Signs:
    """What a cause is recognized by in one case."""

    line: str  # evidence that points to it, "" for none
    weight: float  # of that evidence
    effects: Sequence[Effect]


def _candidate(cause: Cause, case: _Case) -> _Candidate | None:
    """None where the curves cannot have the cause."""
    curves, setting, has = case.curves, case.setting, _has(case.curves, case.setting)
    usual = _Signs(*case.evidence.sign(cause, has), cause.effects)
    signs = SIGNS[cause.name](usual, cause, case) if cause.name in SIGNS else usual
    if signs is None:
        return None
    findings = [finding for finding in case.findings if finding.cause == cause.name]
    lines = [(signs.line, signs.weight), *((finding.text, finding.weight) for finding in findings)]
    line, weight = max(lines, key=lambda row: row[1])
    against = max([case.evidence.excludes(cause), *(1 / finding.weight for finding in findings)])
    touched = [curve for curve in curves if can_concern(cause, curve, setting, bool(line))]

    def times_of(effects: Sequence[Effect]) -> list[list[Floats]]:
        effects = [effect for effect in effects if touched and _changes(effect, touched, case.parameters)]
        return _between(effects, _estimates(effects, curves, touched, case.parameters), cause.gradual)

    usual_times = times_of(signs.effects)
    if not usual_times:
        return None
    tail_times = [times for _, severities in cause.tails for times in times_of(severities)]
    each = np.array([_explains(times, curves) for times in [*usual_times, *tail_times]])
    tail = TAIL if tail_times else 0.0
    parts = np.array([(1 - tail) / len(usual_times)] * len(usual_times) + [tail / max(1, len(tail_times))] * len(tail_times))
    likely = float(np.logaddexp.reduce(each + np.log(parts)))
    return _Candidate(cause, cause.prior_on(has), math.log(weight / against) + likely, line)


def _few_nics(usual: _Signs, cause: Cause, case: _Case) -> _Signs | None:
    """The number of NICs in use that the text states, else every number below that of the design."""
    available = case.setting.nics
    if not available:
        return usual
    nics = case.evidence.nics_with(gpus_for_all=_gpus(case.curves) >= available)
    if nics >= available:
        return None
    effects = [Effect(net=count / available) for count in ([nics] if nics else range(1, available))]
    return _Signs(f"{nics} of {available} NICs", cause.weight, effects) if nics else _Signs("", 1.0, effects)


def _few_channels(usual: _Signs, cause: Cause, case: _Case) -> _Signs:
    """The limit of thread blocks that a variable sets, over those of the run."""
    words = (case.evidence.environment.get(key, "") for key in ("MAX_CTAS", "MAX_NCHANNELS"))
    limit = next((int(word) for word in words if re.fullmatch("[0-9]{1,6}", word)), 0)
    ctas = min(float(np.min(curve.job.ctas)) for curve in case.curves)
    return replace(usual, effects=[Effect(ctas=min(1.0, limit / ctas))]) if limit else usual


def _forced_algorithm(usual: _Signs, cause: Cause, case: _Case) -> _Signs | None:
    """The algorithm that a variable names, around its estimate. None if the estimates are of that algorithm already."""
    free = [curve for curve in case.curves if curve.algorithm == "auto"]
    if not free:
        return None
    environment = case.evidence.environment
    named = {tuning_of(environment, "ALGO", ALGORITHMS, curve.job.collective) for curve in free} - {"auto"}
    effects = [Effect(algorithm=word, time=time) for word in sorted(named) for time in FORCED_TIMES]
    return replace(usual, effects=effects or usual.effects)


def _nccl_defect(usual: _Signs, cause: Cause, case: _Case) -> _Signs:
    """A known defect of the release that the text states, which speaks against the cause where it has none."""
    evidence = case.evidence
    defect = next((item for curve in case.curves if (item := evidence.defect(curve.job.collective))), None)
    if defect is None:
        return _Signs("", 1 / cause.weight if evidence.release else 1.0, usual.effects)
    return _Signs(f"NCCL {evidence.release}: {defect.text} ({defect.source})", cause.weight, usual.effects)


# Causes whose evidence or effects depend on numbers in the text, which patterns of `causes.yaml` cannot express.
SIGNS: Mapping[str, Callable[[_Signs, Cause, _Case], _Signs | None]] = {
    "few_nics": _few_nics,
    "few_channels": _few_channels,
    "forced_algorithm": _forced_algorithm,
    "nccl_defect": _nccl_defect,
}


def _gpus(curves: Sequence[Curve]) -> float:
    """GPUs of a server that run, or of a rack with NVLink between its servers."""
    return max(float(np.max(curve.job.domain)) for curve in curves)


def _changes(effect: Effect, curves: Sequence[Curve], parameters: Physics) -> bool:
    """Whether an effect changes any of the runs."""

    def differ(job: Job, changed: Job) -> bool:
        return any(not np.array_equal(getattr(job, key), getattr(changed, key)) for key in CHANGED)

    if effect.algorithm and effect.time == 1:
        pairs = (
            (curve.estimate(parameters), curve.estimate(parameters, effect)) for curve in curves if curve.algorithm == "auto"
        )
        return any(not len(plain) or not np.allclose(plain, affected) for plain, affected in pairs)
    return effect.time != 1 or any(differ(curve.job, effect.on(curve.job)) for curve in curves)


def _estimates(
    effects: Sequence[Effect], curves: Sequence[Curve], touched: Sequence[Curve], parameters: Physics
) -> list[list[Floats]]:
    """µs of every curve with each effect, on those that it can touch."""
    return [[curve.estimate(parameters, effect if curve in touched else None) for curve in curves] for effect in effects]


def _between(effects: Sequence[Effect], times: list[list[Floats]], gradual: bool) -> list[list[Floats]]:
    """The same with severities between two neighbors that change one thing, in equal ratios of the time."""
    out = list(times)
    for at in range(len(effects) - 1) if gradual else ():
        if set(effects[at].kind) & set(effects[at + 1].kind):
            for step in range(1, BETWEEN + 1):
                part = step / (BETWEEN + 1)
                pairs = zip(times[at], times[at + 1], strict=True)
                out.append([np.asarray(first ** (1 - part) * second**part) for first, second in pairs])
    return out


def _explains(times: Sequence[Floats], curves: Sequence[Curve]) -> float:
    """Log of the likelihood of all curves with these times."""
    return sum(_likelihood(curve, estimated) for curve, estimated in zip(curves, times, strict=True))


def features(curve: Curve, setting: Setting, stated: bool = False) -> dict[str, bool]:
    """What a cause can need, of NEEDS, and whether this run on this design has it; `stated`: the text names the cause."""
    job = curve.job
    crosses, transport = bool(job.crosses), physics.transports()[int(job.transport)]
    return {
        "network": crosses,
        "planes": crosses and (setting.planes > 1 or stated),
        "rails": crosses and setting.rails,
        "ecmp": crosses and setting.ecmp and curve.beyond_leaf,
        "inside": float(job.domain) > 1,
        "nvlink": float(job.domain) > 1 and not job.pcie,
        "roce": crosses and transport == "roce",
        "nvls": bool(job.nvls) and float(job.domain) > 1,
        "nics": crosses and setting.nics != 1,
        "rdma": crosses and transport != "ethernet",
        "plugin": crosses and transport in PLUGIN,
        "alone": crosses and float(job.domain) == 1,
        "pairs": float(np.max(job.domains)) > 2,
        "rack": 0 < setting.gpus < float(np.max(job.domain)),
    }


def can_concern(cause: Cause, curve: Curve, setting: Setting, stated: bool) -> bool:
    """Whether a cause can slow a curve on this design; `stated`: the log says that it does."""
    has = features(curve, setting, stated)
    return (not cause.collectives or curve.job.collective in cause.collectives) and all(has[need] for need in cause.needs)


def _likelihood(curve: Curve, estimated: Floats) -> float:
    """Log of the density of the measured times, less a constant that is the same for all causes."""
    low, high = np.log(curve.low), np.log(curve.high)
    spread = (high - low) / (2 * NORMAL_P90)
    error = (np.log(curve.measured_us / estimated) - (high + low) / 2) / spread
    doublings = np.log2(np.asarray(curve.job.bytes, dtype=np.float64))
    alike = WHOLE + NEAR * np.exp(-np.abs(doublings[:, None] - doublings[None, :]) / REACH) + OWN * np.eye(len(error))
    distance = float(error @ np.linalg.solve(alike, error))
    return -0.5 * (FREEDOM + len(error)) * math.log1p(distance / FREEDOM)


def spans(curve: Curve, parameters: Physics) -> list[Span]:
    """Where the measured time is above the 90th percentile, at two neighboring sizes at least; one of a single number."""
    ratio = curve.measured_us / curve.estimate(parameters)
    out, run = [], list[int]()
    for at, slow in enumerate([*(ratio > curve.high), False]):
        if slow:
            run.append(at)
            continue
        if len(run) > min(1, max(0, len(ratio) - 1)):
            sizes = curve.job.bytes
            out.append(Span(curve.name, int(sizes[run[0]]), int(sizes[run[-1]]), float(np.median(ratio[run]))))
        run = []
    return out


# --- JSON -----------------------------------------------------------------------------------------------------


class SpanDocument(Document):
    table: str = json_key(of="curve")
    first_bytes: Count
    last_bytes: Count
    slower: Amount = json_key("median of measured over estimated time")


class CostDocument(Document):
    table: str = json_key(of="curve")
    variables: str = json_key("as a shell sets them")
    bytes: Count = json_key("size at which they cost most")
    slower: Amount = json_key("estimated time with them over that without")


class SuspectDocument(Document):
    cause: str = json_key(of="cause.name")
    text: str = json_key(of="cause.title")
    share: Share
    evidence: str = json_key("line or variable that points to it")
    confirm: str = json_key("command or comparison that confirms or excludes it", "cause.confirm")
    source: str = json_key(of="cause.source")


class SeenDocument(Document):
    seen: str = json_key(of=0)
    causes: list[str] = json_key("the most likely first", 1)


class NextDocument(Document):
    command: str
    minutes: Amount = json_key("of a person on servers at hand, a judgment")
    bits: Amount = json_key("information about the cause that the outcome gives")
    outcomes: list[SeenDocument] = json_key("anything else speaks for another cause")


class DiagnosisDocument(Document):
    timed: bool = json_key("false: no times were given, the causes are by the text alone")
    healthy: bool = json_key("no cause is named", lambda diagnosis: not diagnosis.suspects)
    healthy_share: Share = json_key("of a healthy run among all explanations", "healthy")
    spans: list[SpanDocument] = json_key("neighboring sizes that are slower than the 90th percentile")
    settings: list[CostDocument] = json_key(
        "variables of NCCL that the estimate is made with, where they cost a tenth of the time or more"
    )
    causes: list[SuspectDocument] = json_key("the most likely first", "suspects")
    advice: str = json_key("what else to give, empty where the evidence is there")
    tests: list[NextDocument] = json_key(
        "next tests, where no cause has most of the share; most information per minute first"
    )
