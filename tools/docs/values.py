"""What network OSes accept: `python -m tools.docs.values > docs/values.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabric.audit.checks import syntax_of
from fabric.base.grouping import grouped
from fabric.nos.statements.conditions import COMBINATION, ORDER, UNREACHED, Condition, load_conditions
from fabric.nos.statements.values import load_values
from fabric.nos.target import targets
from tools.docs.ending import ending

HEAD = """# Values, order and combinations that a network OS accepts

`fabric check --configs DIR` reports, with an intent or without:

* a value outside its range, too wide or in another form ([FAB2532](checks.md#fab2532)),
* a statement that the network OS drops or overrides because of the order of lines ([FAB2533](checks.md#fab2533)),
* statements that it refuses in combination ([FAB2534](checks.md#fab2534)),
* rules of packet filters behind one that matches every packet ([FAB2577](checks.md#fab2577)).

In a pattern `<1-4094>` is a number of that range, `<0|3-65535>` one of two ranges, `<rd>` a value of a kind, `<vlan+>` a list
with commas and ranges, `<rt*>` a list of words, `<family!>` the rest of the statement. What is not in `<…>` is a regular
expression for the whole path of a statement.

## How it was measured

`python -m tests.nos.frr_edits --seed 301 --edits 300` edits valid `frr.conf` files at random: values and words, moved,
repeated and deleted lines and ends of sections, lines of other files. FRR 8.4.4 loads each (`vtysh -f`), and `write terminal`
is compared with the file. A line that FRR stores in another form is taken: a prefix without the bits of a host, a line of
IPv4 unicast that stands in `router bgp` itself.

FIGURES

A line counts as found if it has a finding, is below a line with one, whose section is lost, or is about the same neighbor.
A test repeats a small sample. The configs of FRR's own tests are the other side: of 937 files of release 8.4.4 that are no
template, four have a finding, each at a line that FRR does not take either, or that a line below it replaces.

SONiC's rows were compared with its YANG models ([configs](configs.md#sonics-yang-models)). The other network OSes were not
asked: their rows are from what the column "source" names.

CHECKED

`python -m tests.nos.statements.complete` tests that every statement with a value has a row or stands in the list of open
values (`open` in `values.yaml`, each with its reason), and that none is refused. It renders one switch of each role of all
intents in `intent/`, of the published designs in `tests/reference/`, and of five small designs of every network OS: 71
intents with 35,347 different statements, none of them without a row. A test repeats it for 15 of them.

A schema is the vendor's data model with the ranges that the network OS checks: YANG of Cisco, Juniper and Arista, OpenAPI and
`nv list-commands` of NVUE, `eos_cli_config_gen` of Arista. A document is a standard or a page of a manual. Where neither was
found, the source says "not confirmed by a document".

## Limits

* Where releases or platforms differ, the range is the widest one: a value that a smaller platform refuses is silent.
* Lines that FRR stores in another form, such as a prefix with host bits, are silent; so is the indentation of a line that
  FRR reads in another section than it looks, where the section has the command.
* Only the statements below are judged. A statement that no row names, and that no list of open values has, is unknown.
* The intent is checked at its line: VNIs when it is planned (FAB138); BFD, BGP timers, prefix limits, the anycast MAC address
  and pinned AS numbers when it is generated or checked (FAB164). Other values of the intent have limits that every network OS
  takes, and `fabric check` judges the generated files whole.
"""
END = ending(
    "python -m tools.docs.values",
    "[How do I check configs that I already have?](howto/configs.md): these rules on your own files.",
    "[without-effect.md](without-effect.md): statements whose differences are silent.",
)
FIGURES = """| seeds | edits | with a refused or altered line | found | such lines | found | with a finding of their own |
|---|---|---|---|---|---|---|
| 201, 202, 203 | 900 | 392 | 383 (97.7 %) | 1,051 | 1,035 (98.5 %) | 769 (73.2 %) |
| 301, 302, 303 | 900 | 375 | 364 (97.1 %) | 688 | 666 (96.8 %) | 523 (76.0 %) |

| seeds | lines that FRR takes | with a finding | edits taken whole | with a finding |
|---|---|---|---|---|
| 201, 202, 203 | 99,045 | 42 (0.04 %) | 508 | 5 (1.0 %) |
| 301, 302, 303 | 99,280 | 16 (0.02 %) | 525 | 3 (0.6 %) |

These edits were not looked at before they were measured. A few rows were added between the two groups,
for what the first had missed. Before, the same rows found 78 % of the edits of a seed that they were not written for.

Not found: intervals and multipliers of BFD that newer releases take; entries of lists and route maps that FRR drops with an
invalid one behind them; words that no release up to 10.5 has (`no bgp use-next-hop-groups`); a BFD peer in a profile, and the
reverse; passwords with a blank. Most findings at lines that FRR takes are about lines of EVPN that it reads in IPv4 unicast,
where the file has the same line too, and settings that a line below repeats."""

SCHEMA = re.compile(r"(?:FRR|Linux|sonic-buildimage|[\w.-]+/[\w.-]+)[ ,]")  # what a source begins with
UNCONFIRMED = "not confirmed by a document"


def page() -> str:
    """The whole page."""
    sections = ("\n".join(_section(target.name, target.title)) for _, target in sorted(targets().items()))
    return "\n".join([HEAD.replace("FIGURES", FIGURES).replace("CHECKED", "\n".join(_checked())), *sections, END])


def _checked() -> Iterator[str]:
    """Statements of each network OS by what confirms their values."""
    yield "| network OS | statements | by a schema or source code | by a document | not confirmed |\n|---|---|---|---|---|"
    for _, target in sorted(targets().items()):
        sources = [row.source for row in load_values(syntax_of(target.name).rules_file.with_name("values.yaml")).rows]
        open_ones = sum(UNCONFIRMED in source for source in sources)
        schema = sum(SCHEMA.match(source) is not None and UNCONFIRMED not in source for source in sources)
        yield f"| {target.title} | {len(sources)} | {schema} | {len(sources) - schema - open_ones} | {open_ones} |"


def _section(nos: str, title: str) -> Iterator[str]:
    syntax = syntax_of(nos)
    yield f"## {title}\n"
    values = load_values(syntax.rules_file.with_name("values.yaml"))
    kinds = {kind.expected for kind in syntax.accepted.kinds.values()}
    yield "| statement | values | source |\n|---|---|---|"
    for source, rows in grouped((row.source, row) for row in values.rows).items():
        patterns = "<br>".join(_code(row.stated) for row in rows)
        accepted = dict.fromkeys(kind.expected for row in rows for kind in row.kinds if kind.expected in kinds)
        yield f"| {patterns} | {_cell('; '.join(accepted))} | {_cell(source)} |"
    yield ""
    if values.open:
        yield "Statements whose other values are open:\n\n| statement | reason |\n|---|---|"
        for pattern, reason in values.open:
            yield f"| {_code(pattern.pattern)} | {_cell(reason)} |"
        yield ""
    own = load_conditions(syntax.rules_file.with_name("refused.yaml"))
    for code, head in ((ORDER, "Order of lines"), (COMBINATION, "Combinations"), (UNREACHED, "Rules of packet filters")):
        if rows_of_code := [one for one in own if one.code == code]:
            yield f"{head}:\n\n| statement | finding | source |\n|---|---|---|"
            yield from map(_row, rows_of_code)
            yield ""


def _row(one: Condition) -> str:
    return f"| {_code(one.line.pattern)} | {_cell(one.say)} | {_cell(one.source)} |"


def _code(pattern: str) -> str:
    return f"`{_cell(pattern)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    print(page(), end="")
