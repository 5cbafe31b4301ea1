"""docs/cli.md: every command with its arguments and options, from the commands themselves.

Run as `python -m tools.docs.cli`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from fabric.cli.lazy import EXAMPLES, GROUPS, load
from tools.docs.ending import ending

HEAD = """\
# Commands

`fabric COMMAND --help` prints the same at a terminal. Results go to stdout, progress and logs to stderr. `--json` prints one
document and nothing else ([schemas.md](schemas.md)).

## Exit codes

| exit code | meaning |
|---|---|
| 0 | no finding |
| 1 | findings, or generated files are out of date |
| 2 | bad input, wrong usage |
| 3 | an external program or server is missing |
| 70 | an internal error; `fabric --debug COMMAND` prints the traceback |

Nothing to judge is no success: a folder in which no file is recognized, a `--limit` without a match and an unknown `--fabric`
have exit code 2.

## Options of all commands

| option | meaning |
|---|---|
| `-o FILE` | the file to write what is printed to; its ending chooses JSON (`.json`), or a form of `--format` |
| `-o FOLDER` | the same, of several files; a file in place of a folder is refused, and the reverse |
| `--format NAME[=FILE]` | one report on the screen, or in the file of `-o`, and others in files of their own; repeatable |
| `--json` | the same as `--format json` |
| `--generated FOLDER` | where the generated files are that a command reads |
| `--limit GLOB` | devices with matching names |
| `--fabric NAME` | one fabric of the site |

## All commands
"""

END = ending(
    "make docs",
    "[The tour](tour.md): the commands in the order of the work, with their output.",
    "[Which command compares what with what](howto/comparisons.md): plan, files, switches and revisions.",
    "[schemas.md](schemas.md): the documents that `--json` prints.",
)

# Pages that explain a command. Others are named like their command.
PAGES = {
    "init": "quickstart.md",
    "plan": "sizing.md",
    "explain": "codes.md",
    "generate": "files.md",
    "check": "checks.md",
    "step": "training.md",
    "compare": "goodput.md",
    "model score": "accuracy.md",
    "model calibrate": "estimate.md",
    "push": "netbox.md",
    "export": "exports.md",
    "catalog": "howto/switch.md",
    "schema": "schemas.md",
    "cabling verify": "cabling-verify.md",
}


def page() -> str:
    """The whole page."""
    out = [HEAD, *_table()]
    for names in GROUPS.values():
        for name in names:
            command = load(name)
            below = getattr(command, "commands", None)
            out += _group(name, command) if below else _command(name, command)
    return "\n".join([*out, END])


def page_of(name: str) -> str:
    """Page that explains a command, as its path below docs/."""
    first = name.partition(" ")[0]
    return PAGES.get(name) or PAGES.get(first) or f"{first}.md"


def _table() -> Iterator[str]:
    for title, names in GROUPS.items():
        yield f"| {title} | does |\n|---|---|"
        yield from (f"| [`{name}`](#fabric-{name}) | {_cell(line)} |" for name, line in names.items())
        yield ""


def _group(name: str, command: Any) -> Iterator[str]:
    yield f"## `fabric {name}`\n\n{_help(command)}\n"
    for inner, below in command.commands.items():
        yield from _command(f"{name} {inner}", below, "###")


def _command(name: str, command: Any, level: str = "##") -> Iterator[str]:
    context = command.make_context(name, [], resilient_parsing=True)
    yield f"{level} `fabric {name}`\n\n{_help(command)} Explained in [{page_of(name)}]({page_of(name)}).\n"
    usage = " ".join(["fabric", name, *command.collect_usage_pieces(context)])
    yield f"```text\n{usage}\n```\n"
    rows = [row for parameter in command.get_params(context) for row in _row(parameter, context)]
    yield "\n".join(["| argument or option | meaning |", "|---|---|", *rows, ""])
    yield f"Example: `{EXAMPLES[name]}`\n"


def _row(parameter: Any, context: Any) -> Iterator[str]:
    record = parameter.get_help_record(context)
    if record and "--help" not in parameter.opts:
        name = record[0] if parameter.param_type_name == "option" else parameter.metavar or record[0]
        text = re.sub(r"\s*\[required\]|; x>=\d+", "", record[1])
        text = re.sub(r"; (\d+)<=x<=(\d+)", r", \1 to \2", text)
        text = re.sub(r"\[default: \((.*?)\)", r"[default: \1", text)
        yield f"| `{name}` | {_cell(text)} |"


def _help(command: Any) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (command.help or "").split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "&#124;").replace("<", "&lt;").split())


if __name__ == "__main__":
    print(page(), end="")
