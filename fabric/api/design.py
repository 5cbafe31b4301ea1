"""An intent becomes a plan, and the questions that the plan answers by itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fabric.base.diagnostics import Diagnostic
    from fabric.base.processes import Progress
    from fabric.deliver.brownfield.importing import Imported
    from fabric.deliver.brownfield.sources.combined import ImportRequest
    from fabric.design.intent.draft import Draft
    from fabric.design.intent.intent import Intent
    from fabric.design.moves import Changes
    from fabric.hardware.catalog.asics import Asic
    from fabric.hardware.catalog.models import ServerModel, SwitchModel
    from fabric.hardware.catalog.power import PowerRange
    from fabric.hardware.catalog.power_class import DatasheetCheck
    from fabric.hardware.headroom import Headroom
    from fabric.model.plan import Plan
    from fabric.model.plan.lock import Lock
    from fabric.nos.target import Target


def init(draft: Draft, shown: str, schema: bool = False) -> str:
    """Return a short commented intent.

    Args:
        draft: model and number of servers, and the choices to write.
        shown: name in messages about what no single flag states.
        schema: add a line that names the JSON Schema, for editors.

    Raises:
        InputError: the draft is not a valid intent.
    """
    from fabric.design.intent.draft import check as look, write

    text = write(draft, schema=schema)
    look(draft, text, shown)
    return text


def schema(document: str = "") -> str:
    """Return a JSON Schema: of the intent, of a JOB file (`job`), or of the named `--json` document (`docs/glossary.md`)."""
    from fabric.api import schemas
    from fabric.design.intent import load as language

    return schemas.text(document) if document else language.text()


def schema_names() -> Sequence[str]:
    """Return the names of the `--json` documents that `schema` knows."""
    from fabric.api import schemas

    return schemas.names()


def catalog() -> tuple[Mapping[str, SwitchModel], Mapping[str, ServerModel]]:
    """Return the switches and servers of the catalog, by model."""
    from fabric.hardware import catalog as hardware

    switches = {model: switch for model in hardware.switch_names() if (switch := hardware.switch(model))}
    return switches, {model: server for model in hardware.server_names() if (server := hardware.server(model))}


def catalog_power() -> Mapping[str, Mapping[str, PowerRange]]:
    """Return the power of the catalog's hardware in W: kind (switches, servers, NICs, optics and cables) → model → range."""
    from fabric.hardware.catalog import power

    switches, servers = catalog()
    return {
        "switches": {name: power.switch_range(model) for name, model in switches.items()},
        "servers": {name: power.server_range(model) for name, model in servers.items()},
        "nics": power.nics(),
        "modules": power.modules(),
    }


def catalog_power_check() -> Sequence[DatasheetCheck]:
    """Return the power figures of the switches beside the bounds of their class, each made without its own data sheet."""
    from fabric.hardware.catalog.power_class import leave_out

    return leave_out()


def vendors() -> Mapping[str, Target]:
    """Return the installed network OSes, by name."""
    from fabric.nos.target import targets

    return targets()


def headroom(asic: Asic | None, speed_gbps: int, length_m: int, mtu_bytes: int, **more: Any) -> Headroom:
    """Compute the PFC headroom of one lossless priority of a port (IEEE 802.1Qbb; terms in `docs/headroom.md`).

    Args:
        asic: chip, None if unknown.
        speed_gbps: port speed in Gb/s.
        length_m: cable length in m.
        mtu_bytes: largest frame in bytes.
        more: further arguments of `fabric.hardware.headroom.headroom`.
    """
    from fabric.hardware.headroom import headroom as compute

    return compute(asic, speed_gbps, length_m, mtu_bytes, **more)


def load(path: Path, output: Path | None = None) -> Intent:
    """Read and check an intent.

    Args:
        path: the YAML file.
        output: folder in place of the `output` of the intent.

    Raises:
        InputError: all mistakes of the file, or an output folder that is a symlink.
    """
    from fabric.design.intent import intent

    return intent.load(path, output)


def summarize(intent: Intent) -> dict[str, Any]:
    """Return counts, ports, ratios and limits of every fabric, by name: sizing only, so fast at any size."""
    from fabric.design.planner.site import summarize as counts

    return counts(intent)


def plan(intent: Intent, known: Lock | None = None, *, emulated: Collection[str] = ()) -> Plan:
    """Size, wire and number every fabric.

    Args:
        intent: the design to plan.
        known: values to keep; None reads the lock file of the site.
        emulated: features that switches need not have, as a lab stands in for them.

    Raises:
        InputError: the intent has no plan, with the limit that is exceeded.
    """
    from fabric.configs import targets
    from fabric.design.planner.resolve import resolve_intent
    from fabric.design.planner.site import plan_site

    known = numbers(intent) if known is None else known
    site = resolve_intent(intent)
    site_plan = plan_site(site, known, targets.choose(site.fabrics, emulated))
    targets.refuse_stated(site_plan)
    stopped = stopped_run(intent)
    return replace(site_plan, warnings=(*site_plan.warnings, stopped)) if stopped else site_plan


def stopped_run(intent: Intent) -> Diagnostic | None:
    """Return a warning if an earlier `generate` was interrupted: the output folder may hold files of two designs."""
    from fabric.configs.disk_state import unfinished_run

    return unfinished_run(intent.home, intent.place) if intent.output.keep else None


def numbers(intent: Intent) -> Lock:
    """Read the lock file of the site; without one the lock is empty.

    Raises:
        InputError: the file is not a lock file.
    """
    from fabric.model.plan import lock_file as lock

    return lock.read(intent.folder / lock.FILE, intent.shown / lock.FILE)


def explain(intent: Intent, subject: str) -> list[str]:
    """Return the arithmetic behind one value, as lines of text.

    Args:
        intent: the design.
        subject: `backend.spines`, a device, a port, an address or an AS number.

    Raises:
        InputError: unknown subject.
    """
    from fabric.design.explain.explain import explain as find
    from fabric.design.planner.resolve import resolve_intent
    from fabric.design.planner.site import size_site

    site_lock = numbers(intent)
    sized = size_site(resolve_intent(intent), site_lock)
    return find(subject, sized, site_lock, lambda: plan(intent, site_lock), str(intent.path))


def import_site(request: ImportRequest, force: bool = False, progress: Progress | None = None) -> Imported:
    """Make an intent of a network that is there, and prove that its plan is what the switches run; `.write()` writes it.

    Args:
        request: folders of configs, a workbook, and files that list cables.
        force: files of an earlier import are there.
        progress: progress bar.

    Raises:
        InputError: a source that cannot be read, or a file that would be replaced.
        OSError: a folder is missing.
    """
    from fabric.base.processes import silent
    from fabric.deliver.brownfield.importing import imported, refuse_existing
    from fabric.deliver.brownfield.sources.combined import surveyed

    refuse_existing([request.output], force)
    found = surveyed(request)
    return imported(
        found.survey,
        found.folder,
        request.output,
        plan,
        draft=found.draft,
        jobs=request.jobs,
        progress=progress or silent,
    )


def moves(intent: Intent, against: str) -> Changes:
    """Return devices and cables that change from an older intent, and the order of work.

    Args:
        intent: the new design.
        against: the older intent, a file or `git:REV`.

    Raises:
        InputError: one of the two has no plan.
    """
    from fabric.design.intent.intent import read
    from fabric.design.moves import difference

    before, old_lock = read(against, intent.path, intent.folder)
    old = plan(before, old_lock)
    return difference(old, plan(intent, old.lock))  # on the old numbers, whether they were ever written or not
