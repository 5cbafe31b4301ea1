"""What a running SONiC takes: `python -m tools.docs.sonic_changes > docs/targets/sonic-changes.md`."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.nos.sonic.updater import LISTED, OPERATIONS, Rule, updater
from tools.docs.ending import ending

HEAD = """# SONiC: how a change is taken

`fabric diff` and `fabric drift --commands` print changes of `config_db.json` as steps ([diff.md](../diff.md#sonic-steps)).
They follow these rules, read in the sources of SONiC (sonic-net repositories: utilities@691b1bbc, swss@e6b0c5b5,
buildimage@086b03bd, host-services@c2a4cdfe). A pattern is a regular expression, matched against `TABLE / key` for a row that
comes or goes and against `TABLE / key / field` for a field; the first that matches counts. A change without a rule is taken
in place.

## What the daemons do

| way | step |
|---|---|
| recreate | the row is removed in one patch and added in the next, with the rows that refer to it |
| unset | the field is removed in one patch and set in the next |
| default | the field is set to its default before it is removed |
| down | the port is shut before the patch and opened after it |
| restart | the service starts again after the patches |
| console | the patch, with a note: the management session can end |
| reload | `config reload`: every service starts again, traffic stops |
| patch | in place |
"""
END = ending(
    "python -m tools.docs.sonic_changes",
    "[sonic.md](sonic.md): loading, dry run and rollback of a SONiC config.",
    "[diff.md](../diff.md#sonic-steps): the steps that follow from these rules.",
)
UPDATER = """
## What the updater refuses

`config apply-patch`, `config replace` and `config rollback` refuse these operations; one of them fails a whole patch. Such a
change is written with `sonic-db-cli`, as the commands of SONiC for these tables do. *Boards*: where the updater takes it.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([HEAD, *_daemons(), UPDATER, *_refusals(), "", *_boards(), "", END])


def _daemons() -> Iterator[str]:
    yield "| change | operations | way | reason | source |\n|---|---|---|---|---|"
    for rule in updater().daemons:
        way = " ".join(part for part in (rule.way, rule.value or rule.service) if part)
        yield f"| {_code(rule)} | {_operations(rule)} | {way} | {rule.reason} | {rule.source} |"


def _refusals() -> Iterator[str]:
    yield "| operation on | operations | boards | source |\n|---|---|---|---|"
    for rule in updater().refusals:
        boards = "those that it knows" if LISTED in rule.unless else ", ".join(rule.unless) or "none"
        yield f"| {_code(rule)} | {_operations(rule)} | {boards} | {rule.source} |"


def _boards() -> Iterator[str]:
    rules = updater()
    yield "It knows a board by its HwSKU, NVIDIA's by the whole name, others by a part of it. Of the boards in the catalog it"
    yield "knows these; all others are unknown to it:\n"
    yield "| ASIC | HwSKU |\n|---|---|"
    for asic in sorted({*rules.equal.values(), *rules.part.values()}):
        names = [name for name, of in rules.equal.items() if of == asic]
        names += [f"{name}…" for name, of in rules.part.items() if of == asic]
        yield f"| {asic} | {', '.join(names)} |"
    yield "\nA table without a YANG model fails a patch as well. Models exist of:\n"
    yield ", ".join(f"`{table}`" for table in sorted(rules.models)) + "."


def _code(rule: Rule) -> str:
    return "`" + rule.line.pattern.replace("|", "\\|") + "`"


def _operations(rule: Rule) -> str:
    return "all" if rule.operations == OPERATIONS else ", ".join(rule.operations)


if __name__ == "__main__":
    print(page(), end="")
