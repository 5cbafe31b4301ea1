"""An existing site becomes an intent: surveyed, drafted, planned, proven against its configs, and written all or nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import write_files, yaml
from fabric.base.output.site_folder import MANIFEST, OutputError, read_manifest, render, sha256, site_folder, symlink_to_site
from fabric.base.processes import Progress, silent
from fabric.configs import Renderer
from fabric.deliver.brownfield.drafted import Drafted, drafted
from fabric.deliver.brownfield.overrides import NOTHING, OwnLines, own_lines
from fabric.deliver.brownfield.proof import LEFT, Proof, TopicCoverage, coverage, prove
from fabric.deliver.brownfield.refused import MAX_ROUNDS, refusals, without_entries, without_section
from fabric.deliver.brownfield.survey.records import Inference, Survey
from fabric.design.intent.intent import Planning, load
from fabric.model.plan import Plan
from fabric.model.plan.lock_file import FILE as LOCK, Lock, text as lock_text
from fabric.model.settings.site import Home
from fabric.nos.reading import EMPTY, Folder

STOPPING = frozenset({"FAB250", "FAB290"})  # two devices of one name, a file that cannot be parsed
COLLECT = "collect it from the device again, or remove the file"
WIDTH = 110  # columns of the intent
FIRST, LAST = ("version", "site", "catalog", "pools", "management"), ("overrides", "fabrics")  # of its keys
HEAD = "Written by `fabric import`. Commit it with {lock}, which holds the numbers in use."


@dataclass(frozen=True, kw_only=True)
class Imported:
    """An intent of a site that is there.

    Attributes:
        output: where the intent goes.
        text: the intent.
        before: proof of the plan without overrides; None where there are no configs to compare with.
        after: with them.
        own: the overrides.
    """

    survey: Survey
    output: Path
    text: str
    plan: Plan
    inferences: Sequence[Inference] = ()
    before: Proof | None = None
    after: Proof | None = None
    own: OwnLines = NOTHING
    folder: str = ""

    @property
    def coverage(self) -> tuple[TopicCoverage, ...]:
        """A row per topic, and one of all."""
        return coverage(self.before, self.after) if self.before and self.after else ()

    @property
    def in_sync(self) -> bool:
        """Whether the plan is what the switches run."""
        return self.after is None or self.after.in_sync

    @property
    def lock_path(self) -> Path:
        """Where `generate` looks for the numbers."""
        return Home(self.output, site_folder(self.output, self.survey.site)).shown / LOCK

    def files(self) -> dict[Path, bytes]:
        """Every file that is written."""
        home = self.output.parent
        numbers = lock_text(self.plan.lock).encode()
        site = self.lock_path.parent
        owned = {**read_manifest(site), LOCK: sha256(numbers)}
        return {
            self.output: self.text.encode(),
            self.lock_path: numbers,
            site / MANIFEST: render(owned),
            **{home / name: text.encode() for name, text in self.own.templates.items()},
        }

    def write(self, force: bool = False) -> None:
        """Writes all files, or none. Raises InputError where one is there, unless `force`."""
        if link := symlink_to_site(self.output, self.survey.site):
            raise OutputError(f"{link} is a symlink: files would be written outside of the folder", "remove it")
        files = self.files()
        refuse_existing([path for path in files if path.name != MANIFEST], force)
        write_files(files, folders=True)


def refuse_existing(paths: Sequence[Path], force: bool) -> None:
    """Raises InputError for a file that is there: an import never goes over an intent or the numbers of a site."""
    hint = "write to another file with `-o FILE`, or use --force to replace it"
    there = [path for path in paths if path.exists() or path.is_symlink()]
    if there and not force:
        raise InputError([Diagnostic("FAB001", Place(str(path)), "expected no file, got one", hint) for path in there])


def refuse_broken(survey: Survey, folder: Folder | None) -> None:
    """Raises InputError for configs that are empty or cannot be read whole, and for two devices of one name."""
    stopping = [
        Diagnostic(one.id, Place(one.file, one.line, one.column), f"{one.device}: {one.message}", one.hint)
        for one in survey.findings
        if one.id in STOPPING
    ]
    empty = (
        sorted(path for path, kind in folder.unrecognized.items() if kind.config and kind.reason == EMPTY) if folder else []
    )
    stopping += [Diagnostic("FAB290", Place(path), "expected a config, got an empty file", COLLECT) for path in empty]
    if stopping:
        raise InputError(stopping)


def imported(
    survey: Survey,
    folder: Folder | None,
    output: Path,
    plan: Planning,
    *,
    draft: Callable[[Survey], Drafted] = drafted,
    jobs: int = 0,
    progress: Progress = silent,
) -> Imported:
    """The intent of a survey, with its proof. Raises InputError where it has no plan, or a source is broken.

    Args:
        folder: the configs; None where other sources are surveyed.
        output: where the intent will be.
        plan: plans the intent.
        draft: makes it.
    """
    refuse_broken(survey, folder)
    try:
        found = draft(survey)
    except ValueError as error:
        hint = "state the hardware with `--model NAME=MODEL`"
        raise InputError([Diagnostic("FAB009", Place(str(output)), f"no intent can be drafted: {error}", hint)]) from error
    shown = site_folder(output, survey.site)
    head = HEAD.format(lock=_beside(output, shown / LOCK))
    with TemporaryDirectory() as temporary:

        def planned(text: str) -> Plan:
            return _planned(Path(temporary), output, text, found.lock, plan)

        document, first, refused = _fitted(found.document, head, planned, survey)
        made = Imported(
            survey=replace(survey, left_out={**survey.left_out, **found.refused, **found.given_up, **refused}),
            output=output,
            text=_text(head, document),
            plan=first,
            inferences=found.inferences,
            folder=folder.root if folder else "",
        )
        if folder is None:
            return made
        proof = partial(prove, folder=folder, jobs=jobs, progress=progress)

        def text_of(own: OwnLines) -> str:
            return _text(head, _with_overrides(document, own))

        return _carried(made, folder, Path(temporary), text_of, planned, proof)


def _carried(
    made: Imported,
    folder: Folder,
    temporary: Path,
    text_of: Callable[[OwnLines], str],
    planned: Callable[[str], Plan],
    proof: Callable[[Renderer], Proof],
) -> Imported:
    """An intent with its proof and the overrides for what is left: statement by statement, then line by line."""
    renderer = Renderer(made.plan, temporary)
    before = proof(renderer)
    best = replace(made, before=before, after=before)
    while not best.in_sync:
        own = own_lines(renderer, folder, before, best.after if best.own.rules else None)
        write_files({temporary / name: text.encode() for name, text in own.templates.items()}, folders=True)
        plan = planned(text_of(own))
        after = proof(Renderer(plan, temporary))
        if after.count(*LEFT) >= (best.after or before).count(*LEFT):
            break
        best = replace(best, text=text_of(own), plan=plan, after=after, own=own)
    return best


def _fitted(
    document: Mapping[str, Any], head: str, plan: Callable[[str], Plan], survey: Survey
) -> tuple[dict[str, Any], Plan, dict[str, str]]:
    """An intent without what the planner refuses, its plan, and what is left out: path → why.

    Entries with a mistake go first, then optional sections of their fabrics, then a fabric beside others. Raises InputError
    with a config of the fabric that has no plan.
    """
    fitting, refused = deepcopy(dict(document)), dict[str, str]()
    for _ in range(MAX_ROUNDS):
        text = _text(head, fitting)
        try:
            return fitting, plan(text), refused
        except InputError as error:
            paths = refusals(text, error)
            gone = without_entries(fitting, paths) or without_section(fitting, paths, error.diagnostics[0].message)
            refused |= gone
            if not gone:
                raise _at_configs(error, survey) from error
    return fitting, plan(_text(head, fitting)), refused


def _at_configs(error: InputError, survey: Survey) -> InputError:
    """Mistakes of an intent that has no plan, at a config that it is made from."""
    files = (path for switch in survey.switches.values() if switch.facts for path in switch.facts.files)
    place = Place(next(files, survey.site))
    hint = "state the hardware with `--model NAME=MODEL`, or leave devices out of the folder"
    return InputError(
        [
            replace(one, place=place, message=f"no plan of these switches: {one.message}", hint=one.hint or hint)
            for one in error.diagnostics
        ]
    )


def _text(head: str, document: Mapping[str, Any]) -> str:
    """The intent; its fabrics are last, as in the examples."""
    ordered = dict.fromkeys((*FIRST, *(key for key in document if key not in LAST), *LAST))
    return f"# {head}\n{yaml.compact({key: document[key] for key in ordered if key in document}, WIDTH)}"


def _with_overrides(document: Mapping[str, Any], own: OwnLines) -> dict[str, Any]:
    return {**document, "overrides": [*document.get("overrides", ()), *own.rules]}


def _planned(temporary: Path, output: Path, text: str, lock: Lock, plan: Planning) -> Plan:
    """The plan of an intent that is not written yet; its mistakes are at the place where it would be."""
    path = temporary / output.name
    path.write_text(text, encoding="utf-8")
    try:
        return plan(load(path, temporary / "generated"), lock)
    except InputError as error:
        raise InputError([_moved(one, path, output) for one in error.diagnostics]) from error


def _moved(diagnostic: Diagnostic, path: Path, output: Path) -> Diagnostic:
    place = diagnostic.place
    return replace(diagnostic, place=replace(place, file=str(output))) if place.file == str(path) else diagnostic


def _beside(output: Path, path: Path) -> str:
    """A path as the intent names it, from its own folder."""
    return os.path.relpath(path, output.resolve().parent)
