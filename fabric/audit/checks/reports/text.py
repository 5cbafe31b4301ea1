"""For people: findings as the compiler-like lines of every other message, then what was and was not looked at.

A block for each file, those with the worst findings first, and in each the worst first: who reads only the top reads what
matters. A hint is given once, and so is what several devices share. Lists are cut unless the verdict is to be whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from fabric.audit.checks import SEVERITIES, Finding, Read, Verdict
from fabric.audit.checks.reports.fold_findings import SEE, folded, printed
from fabric.audit.checks.reports.spell import clean, device_and_message, line, place
from fabric.base.text import and_more, counted, plural, printable

MOST_ALIKE = 20  # findings of one id in one file that are shown
MOST_UNREAD = 5  # statements of one folder that are shown
MOST_LETTERS = 100  # shown of a statement


def report(verdict: Verdict) -> str:
    """Blocks with an empty line between them; the last line is the verdict."""
    blocks = [
        *_by_file(verdict.findings, _finding, verdict.whole),
        *_by_file(verdict.silenced, _silenced, verdict.whole),
        [line for read in verdict.read for line in _read(read, verdict.whole)],
        [f"not checked: {printable(what)}: {printable(why)}" for what, why in verdict.skipped],
        [verdict.sentence(printed(verdict))],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _by_file(
    findings: Iterable[Finding], show: Callable[[Finding, set[str]], Iterator[str]], whole: bool
) -> Iterator[list[str]]:
    """A block for each file; its last lines count the findings not shown."""
    files: dict[str, list[Finding]] = defaultdict(list)
    for finding in sorted(folded(map(clean, findings), whole), key=_rank):  # stable: places stay in order
        files[finding.file].append(finding)
    hints: set[str] = set()
    for file, group in sorted(files.items(), key=lambda item: (_rank(item[1][0]), item[0])):
        lines: list[str] = []
        number: Counter[tuple[str, str]] = Counter()
        for finding in group:
            alike = finding.severity, finding.id
            number[alike] += 1
            if whole or number[alike] <= MOST_ALIKE:
                lines.extend(show(finding, hints))
        for (severity, id), count in number.items():
            if count > MOST_ALIKE and not whole:
                lines.append(f"{file or 'no file'}: {severity}[{id}]: {and_more(count - MOST_ALIKE, see=SEE)}")
        yield lines


def _rank(finding: Finding) -> int:
    return SEVERITIES.index(finding.severity)


def _finding(finding: Finding, hints: set[str]) -> Iterator[str]:
    """Its line, and its hint where it was not given before."""
    yield line(finding)
    if finding.hint and finding.hint not in hints:
        hints.add(finding.hint)
        yield f"    hint: {finding.hint}"


def _silenced(finding: Finding, hints: set[str]) -> Iterator[str]:
    yield f"{place(finding)}: silenced[{finding.id}]: {device_and_message(finding)}; reason: {finding.silenced}"


def _read(read: Read, whole: bool) -> Iterator[str]:
    """Numbers of devices, files and statements read, and the first statements not understood."""
    nouns = ((read.devices, "device"), (read.files, "file"), (read.statements, "statement"))
    counts = ", ".join(counted(number, noun) for number, noun in nouns if number)
    yield f"read: {printable(read.what)}" + (f": {counts}" if counts else "")
    if not read.unread:
        return
    yield f"    not understood: {plural(len(read.unread), 'statement')}"
    shown = read.unread if whole else read.unread[:MOST_UNREAD]
    for one in shown:
        yield f"        {printable(one.file)}:{one.line}: {printable(one.value.strip())[:MOST_LETTERS]}"
    if len(read.unread) > len(shown):
        yield f"        {and_more(len(read.unread) - len(shown), see=SEE)}"
