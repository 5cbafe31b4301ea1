"""One switch of a plan: its files read back and compared with its view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fabric.audit.checks.base import FilesCheck
from fabric.audit.checks.causes import explaining, follows, without_repetitions
from fabric.audit.checks.classes import class_differences
from fabric.audit.checks.compare_with_plan import Difference, differences
from fabric.audit.checks.files.reading import Rest, RestCheck
from fabric.audit.checks.finding import Finding, Subject
from fabric.audit.checks.network import Network
from fabric.audit.checks.planned import planned_rows
from fabric.audit.checks.registry import checks, run
from fabric.audit.checks.role_peers.outline import names_of
from fabric.audit.checks.rows import blocks_of, rows_of
from fabric.audit.checks.truncated_files import Cut, cuts
from fabric.model.facts import Facts, Located
from fabric.model.plan import SwitchView
from fabric.nos.reading import read_device
from fabric.nos.target import target

NOTHING: Mapping[str, str] = {}


def judge(view: SwitchView, facts: Facts, files: Mapping[str, str], rendered: Mapping[str, str] = NOTHING) -> list[Finding]:
    """Everything that the files of a switch say otherwise than its plan, and what is wrong in them by itself.

    `rendered`: path → what the plan renders, of the files whose statements are compared.
    """
    if cut := list(cuts(facts.nos, rendered, files)) if rendered else []:
        return _of_cut(view, facts, files, rendered, cut)
    names = {id(facts): names_of(facts)}
    found = run(FilesCheck, Network((facts,), view.device.name, tuple(_differences(view, facts)), names))
    found = without_repetitions(found)
    rest = _rest(Rest(view, facts, files, rendered, tuple(found)))
    dropped = [one for one in found if follows(one, rest)]
    if dropped:  # what they covered is reported by its statement
        found = [one for one in found if one not in dropped]
        rest = explaining(_rest(Rest(view, facts, files, rendered, tuple(found))), dropped)
    return found + rest


def _rest(subject: Rest) -> list[Finding]:
    """The findings about what no other check covers; each check knows the findings before it."""
    found: list[Finding] = []
    for check in checks(RestCheck):
        found += check.run(replace(subject, reported=(*subject.reported, *found)))
    return found


def _of_cut(
    view: SwitchView, facts: Facts, files: Mapping[str, str], rendered: Mapping[str, str], cut: list[Cut]
) -> list[Finding]:
    """The files as if they went on as planned: what is wrong in front of their ends is still reported."""
    ends = {one.file: one.line for one in cut}
    whole = {**files, **{one.file: one.completed for one in cut}}
    name = facts.name
    facts = read_device(name, facts.nos, whole)
    facts.name = name
    found = [one.finding(view.device.name) for one in cut]
    for one in judge(view, facts, whole, rendered):
        found.append(replace(one, line=min(one.line, ends.get(one.file, one.line))))
    return found


def _differences(view: SwitchView, facts: Facts) -> Iterator[Difference]:
    top = Located(None, 0, facts.files[0] if facts.files else "")
    idiom = target(view.device.nos).idiom
    derived = idiom.derives if idiom else frozenset[str]()  # their statement shows whether the derived value differs
    found = differences(planned_rows(view), rows_of(facts), top, blocks_of(facts))
    yield from _grouped(one for one in found if not (one.about.absent and one.key.kind in derived))
    yield from class_differences(view, facts)


def _grouped(found: Iterable[Difference]) -> Iterator[Difference]:
    """A line of a peer group that is wrong for all its neighbors is reported once."""
    alike: dict[tuple[str, str, str, Located[object], Subject], list[Difference]] = {}
    for one in found:
        alone = Subject() if one.key.subject.kind == "neighbor" else one.key.subject
        alike.setdefault((one.key.kind, one.expected, one.got, one.place, alone), []).append(one)
    for group in alike.values():
        yield replace(group[0], alike=tuple(one.key.subject for one in group))
