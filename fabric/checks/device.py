"""One switch of a plan: its files read back and held against its view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from fabric.checks.agree import Difference, differences
from fabric.checks.base import FilesCheck
from fabric.checks.classes import class_differences
from fabric.checks.files import checks
from fabric.checks.files.reading import UnknownAddress
from fabric.checks.finding import Finding
from fabric.checks.literals import unknown_addresses
from fabric.checks.network import Network
from fabric.checks.planned import planned_rows
from fabric.checks.rows import Key, blocks_of, rows_of
from fabric.facts import Facts, Said
from fabric.plan.views import SwitchView
from fabric.text.words import listed


@cache
def check_of_kind() -> Mapping[str, FilesCheck]:
    """Kind of fact → the check that it breaks."""
    return {kind: check for check in checks() for kind in check.kinds}


def judge(view: SwitchView, facts: Facts, files: Mapping[str, str]) -> list[Finding]:
    """Everything that the files of a switch say otherwise than its plan, and what is wrong in them by itself."""
    found = list(_disagreements(view, facts))
    alone = Network((facts,), planned=True)
    for check in checks():
        if check.of_device:
            found += check.over(alone)
    told = {(finding.file, finding.line) for finding in found}
    check = UnknownAddress()
    for said in unknown_addresses(view, files):
        if (said.file, said.line) not in told:  # another check has said more of the line
            found.append(check.on(facts, said, f"{said.value} is in no part of the plan that this switch has to do with"))
    return found


def _disagreements(view: SwitchView, facts: Facts) -> Iterator[Finding]:
    top = Said(None, 0, facts.files[0] if facts.files else "")
    by_kind = check_of_kind()
    rows = rows_of(facts)
    for difference in (
        *_grouped(differences(planned_rows(view), rows, top, blocks_of(facts))),
        *class_differences(view, facts),
    ):
        yield _finding(by_kind[difference.key.kind], facts, view.device.name, difference)


def _grouped(found: Iterable[Difference]) -> Iterator[Difference]:
    """A line of a peer group that is wrong for all its neighbours is told of once."""
    alike: dict[tuple[str, str, str, Said[object], str], list[Difference]] = {}
    for one in found:
        alone = "" if one.key.subject.startswith("neighbor ") else one.key.subject
        alike.setdefault((one.key.kind, one.expected, one.got, one.place, alone), []).append(one)
    for group in alike.values():
        subject = listed([one.key.subject for one in group], 1)
        yield replace(group[0], key=Key(group[0].key.kind, subject))


def _finding(check: FilesCheck, facts: Facts, device: str, difference: Difference) -> Finding:
    return Finding(
        check.id,
        check.severity,
        device,
        difference.place.file or (facts.files[0] if facts.files else ""),
        difference.place.line,
        difference.message,
        check.planned_mend or check.mend,
    )
