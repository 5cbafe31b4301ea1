"""A diagnosis for a person."""

from __future__ import annotations

from fabric.base.text import aligned, percent, plural, size, wrapped
from fabric.solver.doctor.checks import Next
from fabric.solver.doctor.diagnosis import Cost, Diagnosis

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
    rows += [("if", f"{seen}: {', '.join(causes)}") for seen, causes in first.outcomes]
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
