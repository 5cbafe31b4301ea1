"""What follows from a misspelled word: what is not found in the same files with the word corrected.

`neighbor 10.0.0.1 remote-asn 65001` is a misspelled word, a neighbor without an AS number, and a statement that the other
devices of the role have. The word is reported, with the worst of the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from fabric.audit.checks.finding import SEVERITIES, Finding
from fabric.audit.checks.network import Network
from fabric.base.grouping import grouped
from fabric.base.text import plural
from fabric.model.facts import Facts
from fabric.nos.reading import read_device

SPELLING = "FAB2510"
SAYS_LITTLE = frozenset(("FAB289", "FAB292", "FAB295"))  # the line of the word says the same
Recheck = Callable[[Network], list[Finding]]


def without_results_of_slips(network: Network, findings: list[Finding], recheck: Recheck) -> list[Finding]:
    """Findings that go with the correction of a word are part of the finding about the word, which is as severe.

    Args:
        network: the devices.
        findings: of all checks.
        recheck: the findings of other devices.
    """
    slips = grouped((one.device, one) for one in findings if one.id == SPELLING)
    if not slips:
        return findings
    by_slip = grouped((id(slip), one) for slip, one in _results(findings, recheck(_corrected(network, slips)), slips))
    gone = {id(one) for results in by_slip.values() for one in results}
    return [_with(one, by_slip.get(id(one), ())) for one in findings if id(one) not in gone]


def _results(
    before: Sequence[Finding], after: Sequence[Finding], slips: Mapping[str, Sequence[Finding]]
) -> Iterator[tuple[Finding, Finding]]:
    """(finding about a word, finding that its correction removes). One that only changes stays."""
    left, changed = set(map(_key, after)), {_place(one) for one in set(after).difference(before)}
    for one in before:
        device = next((name for name in (one.device, *one.about.devices) if name in slips), None)
        if device is not None and one.id != SPELLING and _key(one) not in left and _place(one) not in changed:
            yield min(slips[device], key=lambda slip: (slip.file != one.file, abs(slip.line - one.line))), one


def _key(finding: Finding) -> tuple[str, ...]:
    return finding.id, finding.device, finding.file, finding.message


def _place(finding: Finding) -> tuple[str, str, str, int]:
    return finding.id, finding.device, finding.file, finding.line


def _with(slip: Finding, results: Sequence[Finding]) -> Finding:
    """A finding about a word with what follows from it."""
    if not results:
        return slip
    severity = min((slip.severity, *(one.severity for one in results)), key=SEVERITIES.index)
    telling = sorted((one for one in results if one.id not in SAYS_LITTLE), key=lambda one: SEVERITIES.index(one.severity))
    more = f"; {plural(len(telling) - 1, 'more finding')} of this cause" if telling[1:] else ""
    message = f"{slip.message}; so {telling[0].message}{more}" if telling else slip.message
    ids = tuple(sorted({one.id for one in results}))
    return replace(slip, severity=severity, message=message, about=replace(slip.about, explains=ids))


def _corrected(network: Network, slips: Mapping[str, Sequence[Finding]]) -> Network:
    return replace(network, devices=[_spelled(one, slips[one.name]) if one.name in slips else one for one in network.devices])


def _spelled(facts: Facts, slips: Sequence[Finding]) -> Facts:
    """A device read with the usual word in place of each misspelled one."""
    texts = dict(facts.texts)
    for slip in slips:
        if slip.file not in texts:
            continue  # of another device with the same host name
        word = re.compile(rf"(?<![\w-]){re.escape(slip.about.got)}(?![\w-])")
        texts[slip.file] = word.sub(lambda _, usual=slip.about.expected: usual, texts[slip.file])  # type: ignore[misc]
    read = read_device(facts.name, facts.nos, texts)
    read.partial = facts.partial
    return read
