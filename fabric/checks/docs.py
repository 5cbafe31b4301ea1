"""The page of all checks, made from their classes: `python -m fabric.checks.docs > docs/checks.md`."""

from __future__ import annotations

from fabric.checks import batfish, design, files
from fabric.checks.base import Check, DesignCheck, FilesCheck
from fabric.checks.batfish.checks import BatfishCheck
from fabric.checks.rows import KINDS

HEAD = """# Checks

Made from the checks themselves by `python -m fabric.checks.docs`.

`fabric check FILE…` judges a design and the files that are made from it; `fabric check --configs DIR` judges configs of
any origin, without an intent. What is not wanted is silenced with a reason, for the site or for one fabric, and still
reported as silenced:

```yaml
checks: {silence: {FAB234: "two spines are what the hall has room for"}}
```

Findings are errors, warnings or notes; `--fail-on` says which of them end with exit code 1. [CI](ci.md) shows the reports,
[Batfish](batfish.md) the checks that need its server, [what the checks find](mutations.md) a table of planted faults.

How files are judged: every switch's files are read by a reader of its network OS, which knows nothing of the templates,
into facts with their lines; the facts must be those of the plan. A file under `generated/` that was edited by hand is
judged as it lies there. What a reader does not know is listed as a note, never passed over in silence.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for title, kind, note in (
        ("The design", DesignCheck, "Judged over the plan; the finding names the key of the intent."),
        ("The files", FilesCheck, "Judged over the facts of the files; the finding names device, file and line."),
        ("Batfish", BatfishCheck, "Judged by a [Batfish](batfish.md) server over the same files."),
        ("The intent", None, ""),
    ):
        own = [check for check in _all() if _is(check, kind)]
        if own:
            parts.append(f"## {title}\n" + (f"\n{note}\n" if note else ""))
            parts += [_entry(check) for check in own]
    return "\n".join(parts)


def _all() -> list[type[Check]]:
    design.checks()
    files.checks()
    batfish.every_check()
    return [check for _, check in sorted(Check.registry.items())]


def _is(check: type[Check], kind: type[Check] | None) -> bool:
    known = (DesignCheck, FilesCheck, BatfishCheck)
    return issubclass(check, kind) if kind else not issubclass(check, known)


def _entry(check: type[Check]) -> str:
    lines = [f"### {check.id} {check.title}", "", f"*{check.severity}*. {check.why()}", "", f"Mend: {check.mend}."]
    if issubclass(check, FilesCheck):
        judged = []
        if check.kinds:
            judged.append("against the plan (" + ", ".join(KINDS[kind].words for kind in check.kinds) + ")")
        if check.over is not FilesCheck.over:
            judged.append("without a plan")
        if judged:
            lines += ["", "Judged " + " and ".join(judged) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
