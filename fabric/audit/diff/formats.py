"""A diff for people at a terminal, as a comment on a pull request, and as one JSON document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fabric.audit.checks import Verdict
from fabric.audit.checks.reports.formats import Report
from fabric.audit.diff.compare import Diff
from fabric.audit.diff.configs import DeviceChange
from fabric.audit.diff.design import FabricChange
from fabric.audit.diff.recabling import Job
from fabric.audit.diff.report import sections
from fabric.base.formats.blocks import Section, code, plain, section_lines

FORMATS = ("text", "markdown", "json")  # what changes is neither right nor wrong: there are no findings


def diff_report(diff: Diff) -> Report:
    """A diff as it is reported."""
    parts = sections(diff)
    return Report(
        command="fabric diff",
        verdict=Verdict(),
        title=f"Fabric diff: {code(diff.old)} → {code(diff.new)}",
        summary=lambda: f"Site {plain(diff.site)}" + ("" if parts else ". Nothing differs"),
        text=lambda: _text(diff, parts),
        document=lambda: document(diff),
        sections=lambda: parts,
        suites=list,
        shown_by=f"fabric diff {diff.old} {diff.new}",
    )


def _text(diff: Diff, parts: list[Section]) -> str:
    """The whole report; long changes are cut unless `--limit` names their switches."""
    more = "--limit GLOB shows changes of matching switches, --format json all"
    lines = section_lines(parts, bool(diff.limit), more) if parts else ["nothing differs"]
    return "\n".join([f"site {diff.site}: {diff.old} → {diff.new}", *lines]) + "\n"


# --- JSON -----------------------------------------------------------------------------------------------------


def document(diff: Diff) -> dict[str, Any]:
    """Everything that differs; lists are never cut."""
    design = diff.design
    return {
        "old": diff.old,
        "new": diff.new,
        "site": diff.site,
        "state": diff.state,
        "differs": not diff.same,
        "intent": [asdict(change) for change in design.settings],
        "fabrics": {fabric.name: _fabric(fabric) for fabric in design.fabrics},
        "links": {
            "counts": [
                {**_action(act), "kind": kind, "links": number} for (act, kind), number in design.recabling.by_kind.items()
            ],
            "by_fabric": [
                {"fabric": fabric, "kind": kind, **_action(act), "links": number}
                for (fabric, kind, act), number in design.recabling.by_fabric.items()
            ],
            "drains": [asdict(drain) for drain in design.recabling.drains],
            "changes": [_link(job) for job in design.recabling.jobs],
        },
        "capacity": {
            "figures": [{**asdict(figure), "percent": figure.percent} for figure in diff.capacity.figures],
            "left_out": list(diff.capacity.left_out),
            "routing": {name: {"old": old, "new": new} for name, (old, new) in diff.capacity.routing.items()},
        },
        "devices": [_device(change) for change in diff.devices] if diff.with_configs else None,
        "hosts": [asdict(change) for change in diff.hosts] if diff.with_configs else None,
    }


def _link(job: Job) -> dict[str, Any]:
    cable = job.cable
    ends = {"lower": list(cable.lower), "old": list(cable.old or ()), "new": list(cable.new or ())}
    return {**ends, **_action(job.act), "fabric": job.fabric, "kind": job.kind}


def _action(act: str) -> dict[str, str]:
    return {"action": act, "act": act}  # `act` is its old name


def _fabric(change: FabricChange) -> dict[str, Any]:
    row = {key: value for key, value in asdict(change).items() if key != "name"}
    switches = [{"device": one["switch"], **one} for one in row["switches"]]  # `switch` is its old name
    return {**row, "switches": switches}


def _device(change: DeviceChange) -> dict[str, Any]:
    return {
        "device": change.device,
        "was": change.was,
        "fabric": change.fabric,
        "role": change.role,
        "nos": change.nos,
        "state": change.state,
        "files": [asdict(file) | {"form": file.form.name} for file in change.files],
    }
