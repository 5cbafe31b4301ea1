"""Command lines: every option of every command with odd values, taken from the commands themselves."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

from tests import ROOT
from tests.fuzz.case import Case, rng

LEFT_OUT = {"lab", "push"}  # they touch the machine, or ask servers
LEFT_OUT_OPTIONS = {"--batfish", "--dask", "--help", "--version", "--cross-validate"}  # ask servers, or take minutes
ODD = (
    "",
    " ",
    "1" + "0" * 30,
    "1" * 5000,
    "x" * 5000,
    "9" * 25 + "G",
    "a\nb",
    "a\tb",
    "\x1b[31m",
    "\u0663",
    "\u202e",
    "\udce9",
)
WORDS = """
0 1 -1 2 3 8 64 1000 65536 10000000 10000001 1.5 -0.0 1e308 nan inf -inf 0x10 007 1_000 ä 名前 x = , ,, * ? [ : :: a:b
a:b:c text json csv xlsx svg markdown sarif=x json= text=/ text=no/such/x all error never auto packed spread random
random:1 random:-1 random:x 0,1 backend frontend backend-leaf001 backend-spine001 backend-leaf001:backend-spine001
backend-leaf001:1 leaf1:spine1 8:8G 1M:1G:2 1:0 8G:8 8:8G:1 8:8G:0 1GB 1GiB 64M 1e9 16T 1/2 2,2 2,x 2x400 0x400 400 x400
2X400 999999x1 sonic eos x.yaml y.yaml nowhere.yaml . /dev/null /dev/full x.yaml=backend-leaf001 backend-leaf001=x.yaml
oversubscription=1,2 switch=sn5* switch= unit=0,1 kind=rack x=1 =1 tiers=2,3,4 planes=0 cost time,power
switches,switches git:HEAD git: help l7651 sn5600 tomahawk5 dgx-h100 static dynamic all_reduce alltoall ring ecmp
shipped physics switches=2,optics=3 switches=-1 switches optics=nan 50 rail-optimized collapsed backend.spines 10.0.0.1
"""
VALUES = (*ODD, *WORDS.split())
LIKELY = {  # by option, so that some command lines get further than their options
    "--fabric": ("backend",),
    "--collective": ("all_reduce", "alltoall", "broadcast", "sendrecv", "reduce_scatter"),
    "--size": ("64M", "1GB", "8"),
    "--sweep": ("8:8G", "1M:1G:2"),
    "--placement": ("packed", "spread", "random:1", "gpu-0001,gpu-0002"),
    "--fail": ("backend-spine001", "backend-leaf001:backend-spine001", "gpu-0001"),
    "--job": ("s.yaml",),
    "--prices": ("p.yaml",),
    "--measured": ("t.txt",),
    "--vary": ("oversubscription=1,2", "kind=rack", "unit=1,2", "planes=1,2"),
    "--format": ("text", "json", "csv", "junit=j.xml", "markdown"),
    "--output": ("new", "new.x", "x.yaml"),
    "--limit": ("backend-*", "*", "x"),
    "--plot": ("p.svg",),
    "--routing": ("ecmp", "adaptive", "spray"),
    "--asic": ("tomahawk5",),
    "--speed": ("400", "100"),
    "--length": ("5", "100000"),
    "--source": ("eos", "lldpd"),
}
NUMBERS = ("0", "1", "2", "3", "4", "8", "64", "400", "1000", "65536", "-1", "10000000", "9" * 30)
FILES = ("x.yaml", "x.yaml", "x.yaml", "y.yaml", "s.yaml", "p.yaml", "t.txt", "nowhere.yaml", ".", "", "/dev/null", "\udce9")


@cache
def commands() -> tuple[tuple[tuple[str, ...], Any], ...]:
    """Every command with its words and its parameters."""
    from fabric.cli.lazy import COMMANDS, load

    found: list[tuple[tuple[str, ...], Any]] = []

    def walk(words: tuple[str, ...], command: Any) -> None:
        for name, below in getattr(command, "commands", {}).items():
            if name not in LEFT_OUT:
                walk((*words, name), below)
        if not hasattr(command, "commands"):
            found.append((words, command))

    for name in COMMANDS:
        if name not in LEFT_OUT:
            walk((name,), load(name))
    return tuple(found)


def options(seed: int, number: int) -> Case:
    """One command with one to four options, and arguments that often are files."""
    dice = rng("options", seed, number)
    words, command = commands()[number % len(commands())]
    line = list(words)
    for parameter in command.params:
        if parameter.param_type_name == "argument" and dice.random() < 0.95:
            line += [
                _argument(dice, words, parameter.name) for _ in range(2 if parameter.nargs < 0 and dice.random() < 0.2 else 1)
            ]
    able = [p for p in command.params if p.param_type_name == "option" and not LEFT_OUT_OPTIONS & set(p.opts)]
    for option in dice.choices(able, k=min(len(able), dice.choice((1, 1, 2, 3, 4)))) if able else ():
        line.append(dice.choice(option.opts + option.secondary_opts))
        if not option.is_flag:
            line.append(_value(dice, option.opts))
    if words[0] in ("generate", "check", "diff", "explore") and "--jobs" not in line:
        line += ["--jobs", "1"]
    return Case("options", number, tuple(word.replace("\0", "") for word in line), _files())


def _argument(dice: random.Random, words: tuple[str, ...], name: str) -> str:
    if words[0] == "export" and name == "form":
        from fabric.deliver.export.formats import FORMATS

        return dice.choice((*FORMATS, "x"))
    if name in ("name", "subject"):
        return dice.choice(VALUES)
    return dice.choice(FILES)


def _value(dice: random.Random, names: Sequence[str]) -> str:
    """Often one that the option takes."""
    if dice.random() < 0.6 and (likely := next((LIKELY[name] for name in names if name in LIKELY), NUMBERS)):
        return dice.choice(likely)
    return dice.choice(VALUES)


@cache
def _files() -> dict[str, bytes]:
    from tests.fuzz.files import NCCL

    return {
        "x.yaml": (ROOT / "intent" / "evpn-lab.yaml").read_bytes(),
        "y.yaml": (ROOT / "intent" / "starter.yaml").read_bytes(),
        "s.yaml": (ROOT / "docs" / "step-70b.yaml").read_bytes(),
        "p.yaml": (ROOT / "docs" / "prices-example.yaml").read_bytes(),
        "t.txt": NCCL,
    }
