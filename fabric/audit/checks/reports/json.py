"""One JSON document with everything the run knows; nothing is folded or cut."""

from __future__ import annotations

from typing import Any

from fabric.audit.checks import SEVERITIES, Read, Verdict
from fabric.base.formats import json_text


def report(verdict: Verdict) -> str:
    """Keys are a promise: they grow, and none goes."""
    return json_text(document(verdict)) + "\n"


def document(verdict: Verdict) -> dict[str, Any]:
    """The verdict as a JSON document (`fabric schema check`)."""
    counts = verdict.counts()
    return {
        "findings": [finding.as_dict() for finding in verdict.findings],
        "silenced": [finding.as_dict() for finding in verdict.silenced],
        "read": [_read(read) for read in verdict.read],
        "skipped": [{"what": subject, "reason": why} for subject, why in verdict.skipped],
        "checks": list(verdict.ran),
        "summary": {
            **{f"{kind}s": counts[kind] for kind in SEVERITIES},
            "silenced": len(verdict.silenced),
            "devices": verdict.devices,
            "files": sum(read.files for read in verdict.read),
            "statements": sum(read.statements for read in verdict.read),
            "not_understood": sum(len(read.unread) for read in verdict.read),
            "checks": len(verdict.ran),
            "fail_on": verdict.fail_on,
            "fails": verdict.fails(),
        },
    }


def _read(read: Read) -> dict[str, Any]:
    return {
        "what": read.what,
        "path": read.path,
        "devices": read.devices,
        "files": read.files,
        "statements": read.statements,
        "not_understood": [{"file": one.file, "line": one.line, "statement": one.value} for one in read.unread],
    }
