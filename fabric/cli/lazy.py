"""The commands of `fabric`: each imported only when it runs, its help pages, and the spellings of 0.1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from fabric.base.text import wrapped
from fabric.cli.common import say
from fabric.cli.output import with_output

# --- help pages: options in groups, an example at the end, and no word broken at any width of the terminal ----

UNGROUPED = 10  # so many options beside --help need no groups
NAME_COLUMN = 30  # names of options and commands that are longer have a line of their own
OTHER = "Options"  # of options without a group
HARD_BLANK, WHOLE = "\N{NO-BREAK SPACE}", 40  # a default that is shorter stays on one line

EXAMPLES = {
    "init": "fabric init dc1 --server dgx-h100 --servers 64 -o intent/dc1.yaml",
    "import": "fabric import configs/ --lldp lldp/ -o intent/dc1.yaml",
    "plan": "fabric plan intent/dc1.yaml --against git:main",
    "explore": "fabric explore intent/dc1.yaml --vary oversubscription=1,2 --by power,time",
    "explain": "fabric explain FAB102",
    "report": "fabric report intent/dc1.yaml -o dc1.html",
    "generate": "fabric generate intent/dc1.yaml --diff",
    "check": "fabric check intent/dc1.yaml --format text --format sarif=check.sarif",
    "drift": "fabric drift intent/dc1.yaml running/ --commands",
    "verify": "fabric verify intent/dc1.yaml state/ --format text --format junit=state.xml",
    "diff": "fabric diff git:main intent/dc1.yaml",
    "change plan": "fabric change plan intent/dc1.yaml reboot spine --floor 90% --files work/",
    "change apply": "fabric change apply work/ --inventory inventory.yml",
    "estimate": "fabric estimate intent/dc1.yaml --collective alltoall --size 1G",
    "step": "fabric step intent/dc1.yaml --job llama.yaml",
    "goodput": "fabric goodput intent/dc1.yaml --job job.yaml --gpus 1024",
    "compare": "fabric compare intent/a.yaml intent/b.yaml --job job.yaml --prices prices.yaml",
    "utilisation": "fabric utilisation intent/dc1.yaml --jobs sacct.json",
    "capacity": "fabric capacity intent/dc1.yaml --fail backend-spine001",
    "doctor": "fabric doctor intent/dc1.yaml all_reduce.log nccl_debug.log",
    "acceptance write": "fabric acceptance write intent/dc1.yaml -o acceptance/",
    "acceptance judge": "fabric acceptance judge acceptance/ results/ --intent intent/dc1.yaml",
    "bom": "fabric bom intent/dc1.yaml --prices prices.yaml --format xlsx=bom.xlsx",
    "cabling list": "fabric cabling list intent/dc1.yaml -o cabling/",
    "cabling labels": "fabric cabling labels intent/dc1.yaml -o labels.pdf",
    "cabling verify": "fabric cabling verify intent/dc1.yaml lldp/",
    "lab up": "fabric lab up intent/dc1.yaml --scale-down 2x4",
    "lab status": "fabric lab status intent/dc1.yaml",
    "lab test": "fabric lab test intent/dc1.yaml --scenarios --format junit=lab.xml",
    "lab state": "fabric lab state intent/dc1.yaml -o state/",
    "lab running": "fabric lab running intent/dc1.yaml -o running/",
    "lab down": "fabric lab down intent/dc1.yaml",
    "export": "fabric export svg intent/dc1.yaml -o dc1.svg",
    "push netbox": "fabric push netbox intent/dc1.yaml --dry-run",
    "push nautobot": "fabric push nautobot intent/dc1.yaml --dry-run",
    "headroom": "fabric headroom --switch sn5600 --speed 400 --length 30",
    "catalog": "fabric catalog sn5600",
    "model score": "fabric model score measurements/",
    "model calibrate": "fabric model calibrate measurements/ -o platform.yaml",
    "schema": "fabric schema check",
}


class Command(TyperCommand):
    """One command."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return _usage(super().collect_usage_pieces(ctx))

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _text(formatter, self.help or "")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _, _, name = ctx.command_path.partition(" ")
        if name in EXAMPLES:
            with formatter.section("Example"):
                formatter.write(f"  {EXAMPLES[name]}\n")


class Group(TyperGroup):
    """A command with subcommands."""

    groups: Mapping[str, Iterable[str]] = {}  # title → commands; all below `Commands` unless stated
    default = ""  # the subcommand of a command line that names none

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if self.default and args and args[0] not in (*self.commands, "--help", "-h"):
            args = [self.default, *args]
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_help_text(self, ctx: Any, formatter: Any) -> None:
        _text(formatter, self.help or "")

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _options(self, ctx, formatter)
        for title, names in (self.groups or {"Commands": self.list_commands(ctx)}).items():
            _section(formatter, title, [(name, _summary(self.commands[name])) for name in names])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _text(formatter, self.epilog or "")


def _summary(command: Any) -> str:
    """The first paragraph of its help."""
    return " ".join((command.help or "").partition("\n\n")[0].split())


def _usage(pieces: list[str]) -> list[str]:
    """`FILE` for `{FILE}`, an argument that is required, and `FILE…` for `{FILE…}...`."""
    return [re.sub(r"…(\]?)\.\.\.$", r"…\1", re.sub("[{}]", "", piece)) for piece in pieces]


def _options(command: Any, ctx: Any, formatter: Any) -> None:
    """Arguments, then each group of options in the order of their first one; few options stay together."""
    sections: dict[str, list[tuple[str, str]]] = {}
    params = command.get_params(ctx)
    many = sum(param.param_type_name == "option" for param in params) - 1 > UNGROUPED
    for param in params:
        if (record := param.get_help_record(ctx)) is None:
            continue
        name, text = record
        if param.param_type_name == "argument":
            sections.setdefault("Arguments", []).append((param.metavar or name, text.replace("[required]", "").rstrip()))
        elif "--help" in param.opts:
            sections.setdefault(OTHER, []).append((name, "show this message and exit"))
        else:
            title = (many and getattr(param, "rich_help_panel", None)) or OTHER
            sections.setdefault(title, []).append((name, _default(text)))
    for title, rows in sections.items():
        _section(formatter, title, rows)


def _default(text: str) -> str:
    """`[default: …]` in one piece, without parentheses and without a range that has no upper end."""
    text, bracket, default = text.partition("  [")
    default = re.sub(r"; x>=\d+", "", default)
    default = re.sub(r"; (\d+)<=x<=(\d+)", r", \1 to \2", default)
    default = re.sub(r"^default: \((.*)\)\]$", r"default: \1]", default)
    return f"{text} [{default if len(default) > WHOLE else default.replace(' ', HARD_BLANK)}" if bracket else text


def _text(formatter: Any, text: str) -> None:
    """Paragraphs, indented."""
    for paragraph in filter(None, text.split("\n\n")):
        formatter.write_paragraph()
        for line in _wrapped(" ".join(paragraph.split()), formatter.width - 2):
            formatter.write(f"  {line}\n")


def _section(formatter: Any, title: str, rows: list[tuple[str, str]]) -> None:
    """Names with their texts beside them, or below a name that is too long."""
    fitting = [len(name) for name, _ in rows if len(name) <= NAME_COLUMN]
    column = max(fitting, default=NAME_COLUMN) + 2
    with formatter.section(title):
        for name, text in rows:
            lines = _wrapped(text, formatter.width - 2 - column)
            beside = lines.pop(0) if lines and len(name) <= NAME_COLUMN else ""
            formatter.write(f"  {name:{column}}{beside}".rstrip() + "\n")
            for line in lines:
                formatter.write(f"  {'':{column}}{line}\n")


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of whole words."""
    return [line.replace(HARD_BLANK, " ") for line in wrapped(text, width)]


# --- spellings of 0.1: in 0.2 they work and say what took their place ------------------------------------------

DEPRECATED_OPTIONS = {
    "--capacity": ("capacity", None),
    "--step": ("step", "--job"),
}  # options of `estimate` → command, its option
DEPRECATED_COMMANDS = {
    "calibrate": "model calibrate",
    "score": "model score",
    "vendors": "catalog --os",
    "netbox push": "push netbox",
    "netbox import": "import --from netbox",
    "nautobot push": "push nautobot",
    "nautobot import": "import --from nautobot",
}


def renamed(words: list[str]) -> list[str]:
    """A command line as it is written today."""
    for old, now in DEPRECATED_COMMANDS.items():
        if words[: old.count(" ") + 1] == old.split():
            say(f"fabric: `fabric {old}` is now `fabric {now}`; version 0.3 removes the old name")
            return [*now.split(), *words[old.count(" ") + 1 :]]
    for at, word in enumerate(words if words[:1] == ["estimate"] else ()):
        option, equals, value = word.partition("=")
        if option in DEPRECATED_OPTIONS:
            command, now_option = DEPRECATED_OPTIONS[option]
            say(f"fabric: `estimate {option}` is now `fabric {command}`; version 0.3 removes the old option")
            instead = [f"{now_option}{equals}{value}"] if now_option else []
            return [command, *words[1:at], *instead, *words[at + 1 :]]
    return words


# --- the commands ---------------------------------------------------------------------------------------------

# With their lines in `fabric --help`, the first sentences of their own help. `fabric.cli.<name>` holds each under its name.
GROUPS = {
    "Design and configure": {
        "init": "Write a short commented intent.",
        "plan": "Size, wire and number the fabrics of an intent.",
        "generate": "Write the plan and the configs of every switch of each intent.",
        "check": "Check designs, generated files against the plan, or configs alone.",
        "import": "Write the intent of a network that is there.",
        "explain": "Explain a code such as FAB102, or a number of a plan.",
        "report": "Write a report of a site as one HTML page for offline use.",
    },
    "Change and operate": {
        "diff": "Compare two intents: parts, cables, capacity and config lines.",
        "change": "Plan a change in waves, and carry it out.",
        "drift": "Compare running configs with the plan, line by line.",
        "verify": "Compare the state that switches report with the plan.",
    },
    "Estimate": {
        "estimate": "Estimate the time of a collective, and its bottleneck.",
        "capacity": "Compute cuts, throughput and the effect of failures.",
        "compare": "Compare intents: parts, power, and the times of collectives.",
        "explore": "Compare many variants of one intent by cost, power and time.",
        "step": "Estimate the time of a training step.",
        "goodput": "Estimate the useful time of a training job over a year.",
        "utilisation": "Estimate how many GPUs a mix of jobs can use.",
    },
    "Order, build and accept": {
        "bom": "List parts to order, with spares, power and cost.",
        "cabling": "Write run lists and labels; compare LLDP output with the plan.",
        "lab": "Run the generated FRR configs in network namespaces.",
        "acceptance": "Write the runs that prove a cluster; judge their logs.",
        "doctor": "Explain why a measured collective is slower than estimated.",
    },
    "Integrations": {
        "export": "Write the plan in another format, or as a picture.",
        "push": "Push the plan into NetBox or Nautobot.",
    },
    "Reference": {
        "catalog": "List switch and server models, or the network OSes.",
        "headroom": "Compute the PFC headroom of a port.",
        "model": "Compare estimated times with measured ones; fit the model.",
        "schema": "Print the JSON Schema of intents, JOB files or JSON output.",
    },
}
COMMANDS = {name: line for group in GROUPS.values() for name, line in group.items()}


class Lazy(Group):
    """Lists all commands and imports only the one that runs."""

    groups = GROUPS

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: Command(name, help=line, rich_markup_mode=None) for name, line in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, listed, left = super().resolve_command(ctx, renamed(args))
        return name, load(name) if name and listed else None, left


class _Acceptance(Group):
    default = "write"


class _Change(Group):
    default = "plan"


DEFAULTS: Mapping[str, type[Group]] = {"acceptance": _Acceptance, "change": _Change}


def load(name: str) -> Any:
    """One command with its options, or a group of commands. Its module is `fabric.cli.<name>`, of a keyword `<name>_`."""
    word = f"{name}_" if iskeyword(name) else name
    command = getattr(import_module(f"fabric.cli.{word}"), word)
    holder = typer.Typer(rich_markup_mode=None, add_completion=False)
    if isinstance(command, typer.Typer):
        for subcommand in command.registered_commands:
            subcommand.cls = Command
            if subcommand.callback is not None:
                subcommand.callback = with_output(subcommand.callback)
        holder.add_typer(command, name=name, cls=DEFAULTS.get(name, Group))
    else:
        holder.command(name, cls=Command)(with_output(command))
    return typer.main.get_group(holder).commands[name]
