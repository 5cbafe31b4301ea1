"""An existing site becomes an intent: surveyed, drafted, planned, proven against its configs, and written all or nothing."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import json_line, write_files, yaml
from fabric.base.output.site_folder import MANIFEST, OutputError, read_manifest, render, sha256, site_folder, symlink_to_site
from fabric.base.processes import Progress, silent
from fabric.base.source import Path_, parse
from fabric.configs import Renderer
from fabric.deliver.brownfield.overrides import NOTHING, OwnLines, own_lines
from fabric.deliver.brownfield.proof import LEFT, Proof, TopicCoverage, coverage, prove
from fabric.deliver.brownfield.survey.records import Inference, Survey
from fabric.design.intent.intent import Planning, load
from fabric.model.plan import Plan
from fabric.model.plan.lock_file import FILE as LOCK, Lock, text as lock_text
from fabric.model.settings.site import Home
from fabric.nos.reading import Folder

if TYPE_CHECKING:
    from fabric.deliver.brownfield.draft.judge import Difference
    from fabric.deliver.brownfield.draft.simpler import Rung

NO_NUMBERS = Lock()
STOPPING = frozenset({"FAB250", "FAB290"})  # two devices of one name, a file that cannot be parsed
WIDTH = 110  # columns of the intent
FIRST, LAST = ("version", "site", "catalog", "pools", "management"), ("overrides", "fabrics")  # of its keys
HEAD = "Written by `fabric import`. Commit it with {lock}, which holds the numbers in use."


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """An intent as data, and the numbers that it keeps."""

    document: Mapping[str, Any]
    lock: Lock
    inferences: Sequence[Inference] = ()
    refused: Mapping[str, str] = field(default_factory=dict)  # what was found and the language refuses: path → why
    given_up: Mapping[str, str] = field(
        default_factory=dict
    )  # device, or what of the site → why it is stated in a simpler way


def drafted(survey: Survey) -> Drafted:
    """The intent of a survey, in the first way that plans all of it; else in the way that plans most."""
    from fabric.deliver.brownfield.draft.simpler import rungs

    best: tuple[tuple[bool, int, int], Drafted] | None = None
    refusals: list[InputError] = []
    for rung in rungs(survey):
        if best is not None and not best[0][0] and (rung.last or not rung.tenants):
            break  # without tenants nothing else is stated better
        try:
            left, found = _drafted(rung)
        except InputError as error:
            refusals.append(error)
            continue
        wrong = Counter(its.what for its in left)
        gone = len(survey.switches) - len(rung.survey.switches)
        score = wrong["plan"] > 0, gone + wrong["device"], rung.lost(survey) + wrong["link"]
        if best is None or score < best[0]:
            best = score, replace(found, given_up=rung.given_up)
        if not any(best[0]) or (not best[0][0] and len(survey.switches) > MANY_SWITCHES):
            break
    if best is None:
        raise refusals[0]
    return best[1]


def _drafted(rung: Rung) -> tuple[Sequence[Difference], Drafted]:
    """The topology, what else its statements tell, and the topology again beside that; and what its plan has otherwise."""
    from fabric.deliver.brownfield.draft.draft import draft
    from fabric.deliver.brownfield.draft.judge import merged
    from fabric.deliver.brownfield.draft.simpler import alone
    from fabric.deliver.brownfield.sections.services import sections, shapes_of, with_tenants, without_room
    from fabric.deliver.brownfield.survey.assumptions import assumed

    survey = assumed(rung.survey)
    bare = alone(survey)
    first = draft(bare)
    if any(its.what == "plan" for its in first.left_over):
        first = draft(bare, {"fabrics": shapes_of(bare, first.document)})
    services = sections(bare, first.document, first.lock)
    kept, refused = taken(first.document, rung.sections(services.document), first.lock)
    topology = draft(survey, kept)
    if len(topology.left_over) > len(first.left_over):
        topology = draft(survey, kept := without_room(kept))
    if any(its.what == "plan" for its in topology.left_over):
        kept, more = taken(topology.document, kept, topology.lock)
        topology, refused = draft(survey, kept) if more else topology, {**refused, **more}
    document = merged(topology.document, kept)
    numbers = {name: its.tenants for name, its in services.lock.fabrics.items() if rung.tenants and its.tenants}
    joined = with_tenants(topology.lock, numbers)
    return topology.left_over, Drafted(
        document=document,
        lock=joined if _has_plan(document, joined) else topology.lock,
        inferences=(*survey.inferences, *topology.inferences, *services.inferences),
        refused=refused,
    )


def _has_plan(document: Mapping[str, Any], lock: Lock) -> bool:
    """Whether the numbers of a lock are possible."""
    from fabric.deliver.brownfield.draft.judge import planned

    try:
        planned(document, lock)
    except InputError:
        return False
    return True


PATH = re.compile(r"([\w.-]+(?:\[\d+\][\w.-]*)*): ")
MANY_SWITCHES = 200  # more are stated in the first way that has a plan
MAX_ROUNDS = 20  # of looking for what an intent does not take
ESSENTIAL = re.compile(  # what no fabric is without
    r"version|site|fabrics(\.[^.]+(\.servers(\.\d+(\.\w+)?)?|\.topology(\.(kind|switch|tiers|unit.*|((leaf|spine|core)(\.switch)?)))?)?)?"
)
SECTIONS = ("tenants", "overlay", "qos", "links", "pins", "pools", "underlay", "names", "management")  # of a fabric
OPTIONAL = frozenset({"bond", "external", "network", "tenant", "lossless"})  # keys without which an attachment is one


def taken(
    topology: Mapping[str, Any], services: Mapping[str, Any], lock: Lock = NO_NUMBERS
) -> tuple[dict[str, Any], dict[str, str]]:
    """Sections without the entries that the language or the planner refuses, and those: path → why."""
    from fabric.deliver.brownfield.draft.judge import merged, planned

    kept, refused = deepcopy(dict(services)), dict[str, str]()
    for _ in range(MAX_ROUNDS):
        whole = merged(topology, kept)
        try:
            planned(whole, lock)
            break
        except InputError as error:
            paths = _refusals(json_line(whole), error)
            gone = [path for path in sorted(paths, key=str, reverse=True) if _drop(kept, whole, path)]
            refused |= {".".join(map(str, path)): paths[path] for path in gone}
            if not gone:
                break
    return kept, refused


def _refusals(text: str, error: InputError) -> dict[Path_, str]:
    """What a refused intent has in the places of its mistakes: path → message."""
    source = parse(text, "")
    found: dict[Path_, str] = {}
    for one in error.diagnostics:
        if match := PATH.match(one.message):
            found.setdefault(_parts(match[1]), one.message)
        if path := source.path_of(one.place):
            found.setdefault(path, one.message)
    return found


def _parts(path: str) -> Path_:
    """`tenants[0].name` as ("tenants", 0, "name")."""
    return tuple(int(part) if part.isdecimal() else part for part in re.findall(r"[^.\[\]]+", path))


def _drop(document: Any, whole: Any, path: Path_) -> bool:
    """Takes away an optional key, else the innermost entry of a list that a path leads through, else its last key.

    False where there is none.

    Args:
        whole: what the path leads through; its lists may have more entries.
    """
    at: Any = document
    last: tuple[Any, str | int] | None = None
    for depth, part in enumerate(path):
        try:
            whole = whole[part]
        except (LookupError, TypeError):
            return False
        if isinstance(part, int) and isinstance(at, list):
            name = whole.get("name") if isinstance(whole, Mapping) else None
            part = next((n for n, its in enumerate(at) if its["name"] == name), len(at)) if name else part
            if part >= len(at):
                return False
            last = (at, part)
        elif isinstance(at, dict) and part in at:
            in_list = last is not None and isinstance(last[1], int)
            last = last if in_list and part not in OPTIONAL else (at, part)
        else:
            return False
        at = at[part]
        if depth and part in OPTIONAL:
            break
    if last is None:
        return False
    del last[0][last[1]]
    return True


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


def refuse_broken(survey: Survey) -> None:
    """Raises InputError for files that cannot be read whole, and for two devices of one name."""
    stopping = [finding for finding in survey.findings if finding.id in STOPPING]
    if stopping:
        raise InputError(
            [
                Diagnostic(one.id, Place(one.file, one.line, one.column), f"{one.device}: {one.message}", one.hint)
                for one in stopping
            ]
        )


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
    refuse_broken(survey)
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
            paths = _refusals(text, error)
            gone = _without_entries(fitting, paths) or _without_section(fitting, paths, error.diagnostics[0].message)
            refused |= gone
            if not gone:
                raise _at_configs(error, survey) from error
    return fitting, plan(_text(head, fitting)), refused


def _without_entries(document: dict[str, Any], paths: Mapping[Path_, str]) -> dict[str, str]:
    """Takes entries with a mistake away, but what no intent is without; those: path → why."""
    named = {".".join(map(str, path)): path for path in sorted(paths, key=str, reverse=True)}
    return {
        text: paths[path] for text, path in named.items() if not ESSENTIAL.fullmatch(text) and _drop(document, document, path)
    }


def _without_section(document: dict[str, Any], paths: Iterable[Path_], why: str) -> dict[str, str]:
    """Takes an optional section of a fabric with a mistake away, else that fabric if it is not the only one."""
    named = [str(path[1]) for path in paths if path[0] == "fabrics" and len(path) > 1]
    for name in named or list(document["fabrics"]):
        fabric = document["fabrics"].get(name, {})
        for key in SECTIONS:
            if fabric.pop(key, None) is not None:
                return {f"fabrics.{name}.{key}": why}
        if len(document["fabrics"]) > 1 and document["fabrics"].pop(name, None) is not None:
            return {f"fabrics.{name}": why}
    return {}


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
