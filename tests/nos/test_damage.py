"""Every reader of configs on damaged files: something is always read, and what is reported lies in the file."""

from __future__ import annotations

import random

import pytest

from fabric.nos.reading import read_device
from fabric.nos.target import targets
from tests.fuzz.readers import readings
from tests.nos.cumulus.read.test_device import COMMANDS
from tests.nos.frr.read.helpers import FRR_CONF, INTERFACES
from tests.nos.junos.read.test_device import INHERITED, as_set_lines

TEXTS = 60  # of each file of a network OS
ELSEWHERE = {"junos juniper.conf": (INHERITED,), "cumulus startup.yaml": (COMMANDS,), "frr frr.conf": (FRR_CONF,)}
ELSEWHERE |= {"frr interfaces": (INTERFACES,)}  # further forms, which no example generates
RUBBISH = ("\x00 { neighbor", "}, [", '"PORT": [{"x": {}}],', "/*", "set: [", "a: &x", "b: *x", "c: |", "\ta")
UNBROKEN = {"eos": ": expected an address"}  # what alone is broken in its lines: it takes all others, or does not know them
SIGNS = '{};"#/*[] <>\x00é'


def damaged(chance: random.Random, text: str) -> str:
    """Lines are lost, doubled, moved, halved, spoilt or replaced; sometimes the rest of the file is cut."""
    lines = text.split("\n")
    for _ in range(chance.randint(1, 20)):
        at = chance.randrange(len(lines))
        line = lines[at]
        lines[at : at + 1] = chance.choice(
            (
                [],
                [line] * 2,
                [chance.choice(lines), line],
                [line[: chance.randrange(len(line) + 1)]],
                [" " * chance.randrange(9) + line.lstrip()],
                [line.replace(" ", "", 1).replace(".", "99999999999", 1)],
                [line.replace(":", chance.choice(("", ": [", ": {a", ": &x", ": *x")), 1)],
                ["".join(chance.choice(SIGNS) if chance.random() < 0.1 else letter for letter in line)],
                ["".join(chr(chance.randrange(0x300)) for _ in range(20))],
                [chance.choice(RUBBISH)],
            )
        )
        lines = lines or [""]
    whole = "\n".join(lines)
    return whole[: chance.randrange(len(whole) + 1)] if chance.random() < 0.3 else whole


@pytest.mark.parametrize("nos", [name for name, target in targets().items() if target.reader])
def test_a_damaged_config_is_read_as_far_as_it_goes(nos: str) -> None:
    """No exception, not even one that the engine would report as an unreadable file."""
    files = {name.split()[2]: reading.samples for name, reading in readings().items() if name.startswith(f"facts {nos} ")}
    assert files
    for file, samples in files.items():
        chance, texts = random.Random(7), [*samples, *ELSEWHERE.get(f"{nos} {file}", ())]
        texts += [as_set_lines(text) for text in texts if nos == "junos" and "{" in text]
        for _ in range(TEXTS):
            text = damaged(chance, chance.choice(texts))
            facts = read_device("x", nos, {file: text})
            last = max(len(text.splitlines()), text.count("\n")) + 1
            assert facts.nos == nos
            assert all(1 <= parsed.line <= last for parsed in (*facts.broken, *facts.unread)), file
            assert all(parsed.value.endswith(UNBROKEN.get(nos, "")) for parsed in facts.broken), file
