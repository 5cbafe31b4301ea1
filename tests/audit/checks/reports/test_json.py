"""The JSON document: its keys are a promise."""

from __future__ import annotations

import json

from fabric.audit.checks import Finding, Read, Verdict
from fabric.audit.checks.reports import report
from fabric.model.facts import Located


def test_the_whole_document() -> None:
    verdict = Verdict.of(
        [
            Finding(id="FAB301", severity="error", device="leaf1", file="a.conf", line=3, message="twice", hint="fix it"),
            Finding(
                id="FAB187",
                severity="warning",
                device="",
                file="dc1.yaml",
                line=4,
                message="shut",
                silenced="spare",
                column=5,
            ),
        ],
        read=[Read(what="folder a", path="a", devices=1, files=2, statements=30, unread=(Located(" frob\tx", 7, "a.conf"),))],
        ran=["FAB301"],
        skipped=[("Batfish", "no server")],
        fail_on="warning",
    )
    assert json.loads(report("json", verdict)) == {
        "findings": [
            {
                "id": "FAB301",
                "severity": "error",
                "device": "leaf1",
                "file": "a.conf",
                "line": 3,
                "column": 0,
                "message": "twice",
                "hint": "fix it",
            }
        ],
        "silenced": [
            {
                "id": "FAB187",
                "severity": "warning",
                "device": "",
                "file": "dc1.yaml",
                "line": 4,
                "column": 5,
                "message": "shut",
                "hint": "",
                "silenced": "spare",
            }
        ],
        "read": [
            {
                "what": "folder a",
                "path": "a",
                "devices": 1,
                "files": 2,
                "statements": 30,
                "not_understood": [{"file": "a.conf", "line": 7, "statement": " frob\tx"}],
            }
        ],
        "skipped": [{"what": "Batfish", "reason": "no server"}],
        "checks": ["FAB301"],
        "summary": {
            "errors": 1,
            "warnings": 0,
            "notes": 0,
            "silenced": 1,
            "devices": 1,
            "files": 2,
            "statements": 30,
            "not_understood": 1,
            "checks": 1,
            "fail_on": "warning",
            "fails": True,
        },
    }


def test_an_empty_run_has_every_key() -> None:
    document = json.loads(report("json", Verdict()))
    assert list(document) == ["findings", "silenced", "read", "skipped", "checks", "summary"]
    assert document["summary"]["errors"] == 0
    assert document["summary"]["fails"] is False
