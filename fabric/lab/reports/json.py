"""One JSON document with everything the run knows. Keys are a promise: they grow, and none goes.

site, shape     text
frr, kernel     text; their versions
vrfs            "devices" or "namespaces"
seconds         number; of the whole run
results         list, in the order in which they ran
    id          "sessions", "link-down"
    kind        "proof" or "scenario"
    title       text
    status      "pass", "fail" or "skip"
    summary     text; of what is skipped, why
    faults      list of {device, message}; device is "" for the fabric as a whole
    measured    name → number or text; the suffixes `_ms` and `_s` are units; null for a number that is not finite
    seconds     number
not_emulated    list of {what, reason, covered_by}; covered_by is a list of ids of checks; `why` is the old name of `reason`
summary         {passed, failed, skipped}, numbers of results
"""

from __future__ import annotations

import math
from typing import Any

from fabric.base.formats import json_text
from fabric.lab.outcome import Measure, Outcome, Result
from fabric.lab.reports.words import COUNTED


def report(outcome: Outcome) -> str:
    """The document; letters beyond ASCII are written as escapes, so that any text can be stored."""
    return json_text(document(outcome)) + "\n"


def document(outcome: Outcome) -> dict[str, Any]:
    statuses = [result.status for result in outcome.results]
    return {
        "site": outcome.site,
        "shape": outcome.shape,
        "frr": outcome.frr,
        "kernel": outcome.kernel,
        "vrfs": outcome.vrfs,
        "seconds": outcome.seconds,
        "results": [_result(result) for result in outcome.results],
        "not_emulated": [
            {"what": limit.what, "reason": limit.why, "why": limit.why, "covered_by": list(limit.covered_by)}
            for limit in outcome.not_emulated
        ],
        "summary": {word: statuses.count(status) for status, word in COUNTED.items()},
    }


def _result(result: Result) -> dict[str, Any]:
    return {
        "id": result.id,
        "kind": result.kind,
        "title": result.title,
        "status": result.status,
        "summary": result.summary,
        "faults": [{"device": fault.device, "message": fault.message} for fault in result.faults],
        "measured": {name: _finite(value) for name, value in result.measured.items()},
        "seconds": result.seconds,
    }


def _finite(value: Measure) -> Measure | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value
