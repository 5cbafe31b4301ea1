"""A second opinion: Batfish parses the rendered files, routes them, and is asked whether that is what the plan says.

    Plan + files ──snapshot──▶ folder ──ask──▶ Batfish ──answers──▶ checks ──▶ findings

`run` is the one entry. Nothing here is imported unless a server was named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabric.base.diagnostics import MissingError

if TYPE_CHECKING:
    from fabric.audit.checks import Finding
    from fabric.audit.checks.batfish.client import Answers
    from fabric.audit.checks.batfish.snapshot import Files, Snapshot
    from fabric.model.plan import Plan

Report = tuple[list["Finding"], list[tuple[str, str]], set[str]]
"""Findings; (what was not looked at, why) for the report; ids of the checks that judged something."""


class SnapshotError(MissingError):
    """A server answers and does not take one snapshot; it may take others."""


def run(plan: Plan, files: Files, host: str) -> Report:
    """Asks the server at `host` (`HOST` or `HOST:PORT`) about the rendered files of a plan.

    `files` has the files of a switch, path → text. Raises MissingError where no server answers, or its client is missing.
    """
    import os
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from fabric.audit.checks.batfish.client import Server, Unanswered
    from fabric.audit.checks.batfish.snapshot import write

    server = Server(host, f"fabric-{plan.site}-{os.getpid()}")
    try:
        snapshot = prepare(plan, files)
        with TemporaryDirectory(prefix="fabric-batfish-") as folder:
            write(snapshot, Path(folder))
            server.upload(Path(folder))
        return judge(snapshot, server)
    except Unanswered as error:
        raise SnapshotError(f"the Batfish server at {host} rejected the snapshot: {error}") from error
    finally:
        server.close()


def prepare(plan: Plan, files: Files) -> Snapshot:
    """The snapshot of a plan: all its switches, or a part of them."""
    from fabric.audit.checks import Design
    from fabric.audit.checks.batfish.snapshot import build, subset

    designs = {name: Design(plan, fabric) for name, fabric in plan.fabrics.items()}
    return build(plan, subset(plan), files, lambda fabric, device: designs[fabric.name].views.of(device))


def judge(snapshot: Snapshot, answers: Answers) -> Report:
    """Every check, in the order of their ids; what they could not see; and which of them judged anything at all."""
    from fabric.audit.checks.base import run as run_checks
    from fabric.audit.checks.batfish.checks import Analysis, BatfishCheck
    from fabric.audit.checks.batfish.coverage import applied, uncovered
    from fabric.audit.checks.batfish.expect import Expected

    analysis = Analysis(snapshot, answers, Expected(snapshot))
    ran, idle = applied(analysis)
    return run_checks(BatfishCheck, analysis), [*uncovered(analysis), *idle], ran
