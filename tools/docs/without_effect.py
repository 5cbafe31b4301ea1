"""The lists of statements without effect: `python -m tools.docs.without_effect > docs/without-effect.md`."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import syntax_of
from fabric.nos.statements.rules import KINDS, WithoutEffect
from fabric.nos.target import targets
from tools.docs.ending import ending

HEAD = """# Statements without effect

`fabric check INTENT --configs DIR` and `fabric drift` compare every statement of a running config with the plan
([drift.md](drift.md)). A difference in one of these statements is silent. A pattern is a regular expression, matched against
the whole path of a statement. Kinds:

* `default`: the default of the network OS; without effect whether a file has it or not.
* `added`: the network OS adds it by itself; without effect where the plan does not have it.
* `hidden`: the network OS does not print it; without effect where the running config lacks it.
* `label`: text for people; a difference is a warning.
* `secret`: compared by presence; the running config has the value hashed or encrypted.

[statements.md](statements.md) has the share of lines that each kind covers.
"""
END = ending(
    "python -m tools.docs.without_effect",
    "[drift.md](drift.md): the comparison that these statements are left out of.",
    "[statements.md](statements.md): how much of a config is judged.",
)


def page() -> str:
    """The whole page."""
    return "\n".join(
        [HEAD, *("\n".join(_section(target.name, target.title)) for _, target in sorted(targets().items())), END]
    )


def _section(nos: str, title: str) -> Iterator[str]:
    rules = syntax_of(nos).rules
    yield f"## {title}\n"
    yield "| statement | kind | reason | source |\n|---|---|---|---|"
    for entry in sorted(rules.without_effect, key=lambda entry: KINDS.index(entry.kind)):
        yield f"| {_code(entry.pattern)}{_limit(entry)} | {entry.kind} | {_cell(entry.reason)} | {_cell(entry.source)} |"
    yield ""


def _limit(entry: WithoutEffect) -> str:
    """Where an entry does not apply everywhere."""
    limits = [" without statements"] if entry.empty else []
    limits += [f", in a section with {_code(entry.beside)}"] if entry.beside else []
    limits += [f", in a config with {_code(entry.given)}"] if entry.given else []
    limits += [f", not beside {_code(entry.unless)}"] if entry.unless else []
    limits += [f", `number` up to the count of {_code(entry.up_to)}"] if entry.up_to else []
    return "".join(limits)


def _code(pattern: str) -> str:
    return f"`{_cell(pattern)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    print(page(), end="")
