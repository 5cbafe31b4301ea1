"""docs/checks.md, generated from the check classes: `python -m tools.docs.checks > docs/checks.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import Any

from fabric.audit.checks import KINDS, Check, FilesCheck, of_subject
from fabric.audit.checks.reports.common import FAMILIES
from fabric.base.diagnostics import SUBJECTS
from tools.docs.ending import ending

WIDTH = 125  # of a line of the page

HEAD = """# Checks

`fabric check FILE…` checks a design and its generated files; `fabric check --configs DIR` checks configs of any origin,
without an intent. [ci.md](ci.md) documents reports and exit codes, [configs.md](configs.md) the checks of configs without
an intent, [mutations.md](mutations.md) how many injected faults the checks detect. `fabric explain FAB233` prints the
entry of a check; [codes.md](codes.md) documents all other codes.

A check that does not apply is suppressed by its id, with a reason, for the site or for one fabric. Its findings are still
reported, marked as silenced:

```yaml
checks: {silence: {FAB234: "two spines are what the hall has room for"}}
```
"""
END = ending(
    "python -m tools.docs.checks",
    "[How do I read a finding?](howto/finding.md): severity, place and exit code.",
    "[How do I ignore a warning?](howto/silence.md): with its reason, in the intent.",
    "[ci.md](ci.md): run the checks for every pull request.",
)

FROM_FILES = """The reader of each network OS parses the configs of a switch into facts with line numbers, independent of the
templates. With an intent, facts are compared with the plan; without one, the configs of the devices are compared with each
other. A file under `generated/` that was edited by hand is checked as edited. A finding names device, file and line."""


SECTIONS = (  # title, note, subjects
    ("The design", "Checks of the plan; a finding names the key of the intent.", ("silence", "design")),
    ("The files", FROM_FILES, ("files",)),
    ("Batfish", "Checks by a [Batfish](batfish.md) server on the same configs.", ("batfish",)),
    ("State", "What running switches report, compared with the plan: [verify.md](verify.md).", ("state",)),
    ("The servers", "The files of a server compared with the configs of its leaves, one cable at a time.", ("servers",)),
    (
        "The cluster",
        "Objects of the servers' Kubernetes cluster, with `--cluster DIR`: "
        "[howto/network-operator.md](howto/network-operator.md).",
        ("cluster",),
    ),
)


def page() -> str:
    """The whole page."""
    sections = [(title, note, [check for name in names for check in of_subject(name)]) for title, note, names in SECTIONS]
    return "\n".join(
        [
            HEAD,
            *_table(check for _, _, checks in sections for check in checks),
            *_families(),
            *(line for title, note, checks in sections for line in (f"## {title}\n", f"{note}\n", *map(_entry, checks))),
            *_codes(),
            END,
        ]
    )


def _table(checks: Iterable[type[Check[Any]]]) -> Iterator[str]:
    yield "| id | severity | check | needs |\n|---|---|---|---|"
    for check in checks:
        yield f"| [{check.id}](#{check.id.lower()}) | {_severity(check)} | {check.title} | {_needs(check)} |"
    yield "\nA second severity is that of some findings of the check. Checks that need only files compare them with the plan"
    yield "as well, if there is an intent.\n"


def _needs(check: type[Check[Any]]) -> str:
    """Inputs of a check."""
    planned = issubclass(check, FilesCheck) and check.check is FilesCheck.check
    return f"{check.needs}, intent" if planned else check.needs


def _families() -> Iterator[str]:
    """Code ranges of the stages before the checks."""
    yield "Messages of the stages before the checks:\n"
    yield "| codes | severity | rule |\n|---|---|---|"
    for subject in SUBJECTS:
        if subject.last and subject.name in FAMILIES:
            rule = FAMILIES[subject.name]
            yield f"| FAB{subject.first:03}–FAB{subject.last:03} | {rule.severity} | {rule.title} |"
    yield ""


def _codes() -> Iterator[str]:
    """The ranges."""
    yield "## Codes\n"
    yield "A code never changes its meaning and is never reused. A subject has a range of three-digit codes and, once"
    yield "they are used up, the four-digit codes that begin with them: FAB2010 to FAB2499 follow FAB201 to FAB249.\n"
    yield "| codes | subject |\n|---|---|"
    yield from (f"| {subject.span} | {subject.about} |" for subject in SUBJECTS)
    yield ""


def _severity(check: type[Check[Any]]) -> str:
    return f"{check.severity}; {check.else_severity}" if check.else_severity else check.severity


def _entry(check: type[Check[Any]]) -> str:
    head = f"**{check.title}** · {_severity(check)}"
    lines = [f"### {check.id}", head, _wrapped(f"{check.tests()} {check.why()}"), _wrapped(f"Fails: {check.example}.")]
    if issubclass(check, FilesCheck) and check.kinds:
        words = [KINDS[kind].words for kind in check.kinds]
        lines.append(_wrapped(f"Compared with the plan: {', '.join(words)}."))
    return "\n\n".join([*lines, _wrapped(f"Fix: {check.remediation}.")]) + "\n"


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    print(page(), end="")
