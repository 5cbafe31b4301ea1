"""`nv` commands as a shell reads them, and a whole config as a script, in any form and under any name."""

from __future__ import annotations

import random
import shlex
from pathlib import Path

import pytest

from fabric.audit.checks import statement_differences
from fabric.audit.drift.devices import commands_back
from fabric.model.facts import Facts
from fabric.nos.cumulus.read.tree import commands
from fabric.nos.cumulus.statements import SYNTAX
from fabric.nos.reading import read_device
from fabric.nos.reading.folder import scan
from tests import ROOT

STARTUP = (ROOT / "generated/ai-cumulus/configs/backend-leaf001/startup.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nv set system hostname leaf1", [["set", "system", "hostname", "leaf1"]]),
        ("cumulus@leaf1:mgmt:~$ sudo nv  set\ta 'b c' # why", [["set", "a", "b c"]]),
        ("nv set a \\\n    b \\\n  c", [["set", "a", "b", "c"]]),
        ('nv set a "b\nc" d', [["set", "a", "b\nc", "d"]]),
        ("nv set a $'b\\nc\\'s'", [["set", "a", "b\nc's"]]),
        ("nv set a b'c'\"d \\\"e\\\" \\x\"\\ f", [["set", "a", 'bcd "e" \\x f']]),
        ("nv set a '$6$salt/hash' \"\"", [["set", "a", "$6$salt/hash", ""]]),
        ("nv set a b#c && nv unset d; nv config save", [["set", "a", "b#c"], ["unset", "d"], ["config", "save"]]),
        ("nv config apply -y > /dev/null 2>&1 && nv set a b", [["config", "apply", "-y"], ["set", "a", "b"]]),
        ("nv set a 'open\nnv set b c", [[], ["set", "b", "c"]]),
        ("#!/bin/sh\n# nv set x y\n\nnv set a b | tee log", [["set", "a", "b"]]),
    ],
)  # fmt: skip
def test_words(text: str, words: list[list[str]]) -> None:
    assert [list(line.words) for line in commands(text)] == words


def script(seed: int) -> str:
    """All of a startup.yaml as commands, their words quoted and broken over lines at random."""
    rng = random.Random(seed)
    quotes = (shlex.quote, lambda word: "'" + word.replace("'", "'\"'\"'") + "'", lambda word: f'"{word}"')
    lines = ["#!/bin/bash", "# written by hand"]
    for path, _ in SYNTAX.parts["startup.yaml"](STARTUP):
        words = [rng.choice(quotes)(word) for word in path]
        lines.append("nv set " + "".join(word + rng.choice((" ", " ", "  ", " \\\n    ")) for word in words).rstrip(" \\\n"))
    return "\n".join([*lines, "nv config apply -y", "nv config save"]) + "\n"


def values(facts: Facts) -> dict[str, object]:
    """What a reader found, without places and texts."""
    return {
        "hostname": facts.hostname and facts.hostname.value,
        "asn": [(name, bgp.asn and bgp.asn.value) for name, bgp in facts.bgp.items()],
        "neighbors": sorted(neighbor.peer for neighbor in facts.neighbors()),
        "ports": sorted((name, port.mtu and port.mtu.value, len(port.addresses)) for name, port in facts.interfaces.items()),
        "vnis": sorted(facts.vnis),
    }


@pytest.mark.parametrize(
    "name", ["backend-leaf001.sh", "x/commands", "LEAF.LOG", "day1.nv", "a.json", "b.yaml", "c.cfg", "d"]
)
def test_a_script_under_any_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(script(len(name)), encoding="utf-8")
    (device,) = scan(tmp_path).devices
    assert (device.name, device.nos) == ("backend-leaf001", "cumulus")
    planned = {"startup.yaml": STARTUP}
    assert values(device.facts) == values(read_device("x", "cumulus", planned))
    assert not device.facts.broken
    assert statement_differences("cumulus", planned, device.files) == []


def test_a_change_of_a_script_is_drift(tmp_path: Path) -> None:
    text = script(1).replace("9216", "9000", 1)
    planned, running = {"startup.yaml": STARTUP}, {"leaf.sh": text}
    (changed,) = statement_differences("cumulus", planned, running)
    (part,) = commands_back("cumulus", planned, running, [changed])
    assert "mtu: 9216" in "\n".join(part.lines)


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\nfor host in leaf1 leaf2; do\n  ssh $host nv set system hostname $host\ndone\n",
        "#!/bin/sh\nset -e\necho start\ncd /tmp\nnv set system hostname leaf1\nreboot\n",
        "",
    ],
)
def test_other_scripts_are_passed(text: str, tmp_path: Path) -> None:
    (tmp_path / "install.sh").write_text(text)
    folder = scan(tmp_path)
    assert (folder.devices, folder.passed) == ([], [str(tmp_path / "install.sh")])
