"""Renders the switches of a plan, one job per switch, in this process or in several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fabric.base.diagnostics import Diagnostic, InputError, Report
from fabric.configs import overrides, targets
from fabric.configs.render import render
from fabric.configs.view_of import Views
from fabric.model.plan import Device, Plan
from fabric.nos.target import CannotRender, target


@dataclass(frozen=True, slots=True)
class Job:
    """One switch to render."""

    fabric: str
    device: Device


class Renderer:
    """Everything that rendering a plan needs, computed once. Raises InputError for features that no target can configure."""

    def __init__(self, plan: Plan, base: Path) -> None:
        report = Report()
        targets.check(plan.fabrics, report)
        report.raise_errors()
        self.plan = plan
        self.overrides = overrides.read(plan, base)
        self.views = {name: Views(plan, fabric, targets.mtu_limit(fabric)) for name, fabric in plan.fabrics.items()}

    def jobs(self, selected: Callable[[str], bool]) -> list[Job]:
        """A job for every selected switch with a target, in the order of the plan."""
        return [
            Job(name, device)
            for name, fabric in self.plan.fabrics.items()
            for device in fabric.switches
            if device.nos and selected(device.name)
        ]

    def files(self, job: Job) -> Iterator[tuple[str, bytes]]:
        """(path, bytes) of one switch."""
        view = self.views[job.fabric].of(job.device)
        applied = self.overrides.of(job.fabric, job.device)
        try:
            rendered = render(view, target(job.device.nos), applied)
        except CannotRender as error:
            spec = self.plan.fabrics[job.fabric].spec
            hint = "choose another network OS or switch: `fabric vendors` lists their features"
            raise InputError([Diagnostic("FAB165", spec.at(), f"{job.device.name}: {error}", hint)]) from error
        except Exception as error:
            blamed = overrides.explain(error, self.plan, job.device, applied)
            raise (blamed or error) from error
        for file in rendered:
            yield f"configs/{job.device.name}/{file.path}", file.text.encode()

    def without_config(self) -> list[str]:
        """Fabrics that are planned but configured by other means."""
        return [name for name, fabric in self.plan.fabrics.items() if not fabric.spec.ethernet]
