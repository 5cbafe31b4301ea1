"""The page of all checks, made from their classes: `python -m tools.docs.checks > docs/checks.md`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import fill
from typing import Any

from fabric.checks import KINDS, Check, FilesCheck, of_subject
from fabric.checks.reports.rules import FAMILIES
from fabric.codes import STAGES, SUBJECTS

WIDTH = 125  # of a line of the page

HEAD = """# Checks

Made from the checks themselves by `python -m tools.docs.checks`.

`fabric check FILE…` judges a design and the files that are made from it; `fabric check --configs DIR` judges configs of
any origin, without an intent. [ci.md](ci.md) has the reports and exit codes, [configs.md](configs.md) what is made of
configs that nobody generated, [mutations.md](mutations.md) how many planted faults are found.

What does not apply is silenced by its id, with a reason, for the site or for one fabric. It is then still reported, as
silenced:

```yaml
checks: {silence: {FAB234: "two spines are what the hall has room for"}}
```
"""

FROM_FILES = """The files of every switch are read by a reader of its network OS, which knows nothing of the templates, into
facts with their lines. With an intent the facts must be those of the plan; without one, what devices say must fit together.
A file under `generated/` that was edited by hand is judged as it lies there. The finding names device, file and line."""


SECTIONS = (  # title, note, subjects
    ("The design", "Judged over the plan; the finding names the key of the intent.", ("silence", "design")),
    ("The files", FROM_FILES, ("files",)),
    ("Batfish", "Judged by a [Batfish](batfish.md) server over the same files.", ("batfish",)),
    ("The servers", "The files of a server against what the files of its leaves say, cable by cable.", ("servers",)),
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
        ]
    )


def _table(checks: Iterable[type[Check[Any]]]) -> Iterator[str]:
    yield "| id | severity | holds when all is well | needs |\n|---|---|---|---|"
    for check in checks:
        yield f"| [{check.id}](#{check.id.lower()}) | {_severity(check)} | {check.title} | {_needs(check)} |"
    yield "\nSome findings are milder or worse than is usual for their check. What needs files alone is held against the plan"
    yield "as well, where there is an intent.\n"


def _needs(check: type[Check[Any]]) -> str:
    """What there must be, so that it can be judged at all."""
    planned = issubclass(check, FilesCheck) and check.judge is FilesCheck.judge
    return f"{check.needs}, intent" if planned else check.needs


def _families() -> Iterator[str]:
    """Ids of the stages before the checks."""
    yield "What the stages before them say has ids too:\n"
    yield "| ids | severity | holds when all is well |\n|---|---|---|"
    for subject in SUBJECTS:
        if subject.last and subject.name in FAMILIES:
            rule = FAMILIES[subject.name]
            yield f"| FAB{subject.first:03}–FAB{subject.last:03} | {rule.severity} | {rule.title} |"
    yield ""


def _codes() -> Iterator[str]:
    """The ranges, and every code that is of no check."""
    yield "## Codes\n"
    yield "A code never changes its meaning and is never given again. A subject has a range of three-digit codes and, once"
    yield "they are used up, the four-digit codes that begin with them: FAB2010 to FAB2499 follow FAB201 to FAB249.\n"
    yield "| codes | what they are about |\n|---|---|"
    yield from (f"| {subject.span} | {subject.about} |" for subject in SUBJECTS)
    yield "\nThose that are of no check:\n\n| code | said of |\n|---|---|"
    yield from (f"| {code} | {meaning} |" for code, meaning in STAGES.items())
    yield ""


def _severity(check: type[Check[Any]]) -> str:
    return f"{check.severity}; {check.else_severity}" if check.else_severity else check.severity


def _entry(check: type[Check[Any]]) -> str:
    lines = [f"### {check.id}", f"**{check.title}** · {_severity(check)}", _wrapped(check.why())]
    if issubclass(check, FilesCheck) and check.kinds:
        words = [KINDS[kind].words for kind in check.kinds]
        lines.append(_wrapped(f"Compared with the plan: {', '.join(words)}."))
    return "\n\n".join([*lines, _wrapped(f"To mend it: {check.remediation}.")]) + "\n"


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    print(page(), end="")
