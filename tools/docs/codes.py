"""The page of all codes, from the source of `fabric explain`: `python -m tools.docs.codes > docs/codes.md`."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill

from fabric.audit.codes import Entry, entries, sentence, severity
from fabric.base.diagnostics import SUBJECTS, Subject
from tools.docs.ending import ending

WIDTH = 125  # of a line of the page

HEAD = """# Codes

Every finding and every error has a code, except differences in the cabling, which have a kind. `fabric explain FAB102` prints
the entry of a code, `fabric explain` lists all codes, and `--json` prints the records. [checks.md](checks.md) has the entries
of checks.

A YAML example is merged into the intent that `fabric init` writes, key by key; an example with `version:` is a whole intent.
Commands run beside that intent, `intent.yaml`; an example without a command is for `fabric plan intent.yaml`.
"""
END = ending(
    "python -m tools.docs.codes",
    "[How do I read a finding?](howto/finding.md): where its place and its hint are.",
    "[checks.md](checks.md): the entries of the checks.",
)


def page() -> str:
    """The whole page."""
    by_subject: dict[str, list[Entry]] = {subject.name: [] for subject in SUBJECTS}
    for entry in entries():
        by_subject[entry.subject].append(entry)
    sections = ["\n".join(_section(subject, by_subject[subject.name])) for subject in SUBJECTS]
    return "\n".join([HEAD, *sections, END])


def _section(subject: Subject, found: list[Entry]) -> Iterator[str]:
    yield f"## {subject.span}: {subject.about}\n"
    if subject.has_checks:
        yield "| code | severity | check |\n|---|---|---|"
        yield from (f"| {_link(each)} | {severity(each)} | {each.title} |" for each in found)
        yield ""
        return
    for each in found:
        yield from _entry(each)


def _link(entry: Entry) -> str:
    """An anchor and the entry of a check."""
    anchor = entry.id.lower()
    return f'<a id="{anchor}"></a>[{entry.id}](checks.md#{anchor})'


def _entry(entry: Entry) -> Iterator[str]:
    yield f"### {entry.id}\n"
    yield f"**{entry.title}** · {severity(entry)}\n"
    yield _wrapped(entry.explanation)
    yield from _example(entry.example)
    yield _wrapped(f"Fix: {sentence(entry.fix)}")


def _example(example: str) -> Iterator[str]:
    lines = example.split("\n")
    commands = [line for line in lines if line.startswith("$ ")]
    written = [line for line in lines if line not in commands]
    for kind, part in (("yaml", written), ("console", commands)):
        if part:
            yield "\n".join([f"```{kind}", *part, "```\n"])


def _wrapped(text: str) -> str:
    return fill(text, WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


if __name__ == "__main__":
    print(page(), end="")
