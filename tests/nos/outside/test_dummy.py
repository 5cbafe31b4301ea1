"""A network OS of 30 lines goes through every command: each works, or refuses with a code and a documented exit code."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from fabric.cli.lazy import COMMANDS, load
from fabric.deliver.export.formats import FORMATS
from tests.nos import outside

INTENT = """\
version: 1
site: dummysite
fabrics:
  backend:
    nos: dummy
    servers: {model: dgx-h100, count: 8}
    topology:
      switch: sn5600
      rails: 2
      unit: {servers: 8}
"""
FOLDERS = (
    "anta",
    "cable-validation",
    "collect",
    "containerlab-files",
    "day-zero",
    "kubernetes",
    "nccl",
    "network-operator",
    "prometheus",
    "prometheus-snmp",
)
LLDP = '{"lldp": {"interface": [{"port1": {"chassis": {"backend-spine001": {"id": {"type": "mac", "value": "0"}}}}}]}}'
# Command → the words behind it; several where it does several things. `d.yaml` is the intent, `e.yaml` a changed one.
CALLS: dict[str, list[str]] = {
    "generate": ["d.yaml", "d.yaml --check", "d.yaml --diff"],
    "init": ["dummysite --nos dummy --switch sn5600 -o new.yaml"],
    "plan": ["d.yaml", "d.yaml --json", "e.yaml --against d.yaml"],
    "check": [
        "d.yaml",
        "d.yaml --format json",
        "--configs generated/dummysite",
        "d.yaml --configs generated/dummysite",
        "d.yaml --batfish 127.0.0.1:1",
    ],
    "explain": ["d.yaml backend-leaf001", "FAB168"],
    "diff": ["d.yaml e.yaml", "d.yaml e.yaml --format json"],
    "change apply": [],  # needs switches
    "change plan": ["d.yaml e.yaml --files changed", "d.yaml reboot leaf --floor 10% --files rebooted"],
    "export": [f"{name} d.yaml" + (f" -o out-{name}" if name in FOLDERS else "") for name in FORMATS],
    "drift": ["d.yaml generated/dummysite", "d.yaml generated/dummysite --json"],
    "verify": ["d.yaml backend-leaf001.json", "d.yaml backend-leaf001.txt --json"],
    "estimate": ["d.yaml --size 1M"],
    "capacity": ["d.yaml"],
    "doctor": ["d.yaml d.yaml"],
    "acceptance write": ["d.yaml -o acceptance"],
    "acceptance judge": ["acceptance d.yaml"],
    "step": ["d.yaml"],
    "goodput": ["d.yaml"],
    "compare": ["d.yaml"],
    "utilisation": ["d.yaml"],
    "bom": ["d.yaml"],
    "report": ["d.yaml -o report.html"],
    "explore": ["d.yaml"],
    "model score": ["d.yaml"],
    "model calibrate": ["d.yaml -o platform.yaml"],
    "headroom": ["--switch sn5600 --speed 400 --length 5"],
    "catalog": ["sn5600", "--os"],
    "schema": [""],
    "cabling list": ["d.yaml"],
    "cabling labels": ["d.yaml -o labels.xlsx"],
    "cabling verify": ["d.yaml backend-leaf001.json", "d.yaml backend-leaf001.txt"],
    "push netbox": ["d.yaml --url http://127.0.0.1:1 --dry-run"],
    "push nautobot": ["d.yaml --url http://127.0.0.1:1 --dry-run"],
    "import": [
        "generated/d/configs -o imported.yaml",
        "--from netbox --url http://127.0.0.1:1 --site d -o from-netbox.yaml",
        "--from nautobot --url http://127.0.0.1:1 --site d -o from-nautobot.yaml",
    ],
    "lab up": ["d.yaml"],
    "lab status": ["d.yaml"],
    "lab test": ["d.yaml"],
    "lab running": ["d.yaml -o running"],
    "lab state": ["d.yaml -o state"],
    "lab down": ["d.yaml"],
}
SAYS = {  # call → what it must say
    "check d.yaml": "warning[FAB168]: configs of Dummy OS cannot be parsed: only the plan of 4 switches was checked",
    "export containerlab d.yaml": "warning[FAB168]: not supported on Dummy OS: 4 switches as plain Linux",
    "export ansible d.yaml": "warning[FAB168]: not supported on Dummy OS",
    "export prometheus d.yaml -o out-prometheus": "warning[FAB168]: not supported on Dummy OS: 4 switches by SNMP",
    "export day-zero d.yaml -o out-day-zero": "not supported on Dummy OS: 4 switches get an address and no files",
    "change plan d.yaml reboot leaf --floor 10% --files rebooted": "warning[FAB168]: not supported on Dummy OS: no files of",
    "lab up d.yaml": "expected frr or sonic",
}
FINDINGS = 1
DOCUMENTED = (0, FINDINGS, 2, 3)
WHY = re.compile(r"error\[FAB\d{3}\]|^fabric: |^Usage: ", re.M)


def commands() -> list[str]:
    """Every command of the program, those of groups too."""
    found = []
    for name in COMMANDS:
        inner = getattr(load(name), "commands", None)
        found += [f"{name} {own}" for own in inner] if inner else [name]
    return found


def test_no_command_is_forgotten() -> None:
    assert sorted(CALLS) == sorted(commands())


@pytest.mark.slow
def test_every_command_works_or_refuses_with_a_code(tmp_path: Path) -> None:
    packages, work = tmp_path / "packages", tmp_path / "work"
    shutil.copytree(outside.HERE / "dummy", packages)
    outside.install(packages, "dummy-os", {"dummy": "dummy_os:TARGET"})
    work.mkdir()
    (work / "d.yaml").write_text(INTENT, encoding="utf-8")
    (work / "e.yaml").write_text(INTENT.replace("count: 8", "count: 7"), encoding="utf-8")
    (work / "backend-leaf001.json").write_text(LLDP, encoding="utf-8")
    (work / "backend-leaf001.txt").write_text("an output that is unknown\n", encoding="utf-8")
    calls = [f"{name} {words}".strip() for name, several in CALLS.items() for words in several]
    results = dict(zip(calls, outside.run(packages, work, [call.split() for call in calls]), strict=True))
    wrong = {}
    for call, (code, out, err) in results.items():
        says_why = bool(out) if code == FINDINGS else code == 0 or WHY.search(err)
        if code not in DOCUMENTED or "Traceback" in out + err or not says_why:
            wrong[call] = (code, out[-300:], err[-600:])
        if SAYS.get(call, "") not in out + err:
            wrong[call] = (code, f"expected {SAYS[call]}", (out + err)[-600:])
    assert not wrong
    worked = {call.split()[0] for call, (code, _, _) in results.items() if code == 0}
    assert worked >= {"init", "plan", "generate", "check", "diff", "export", "report", "bom", "estimate", "catalog"}
    assert (
        (work / "generated/dummysite/configs/backend-leaf001/device.conf").read_text().startswith("hostname backend-leaf001")
    )


def test_it_is_small() -> None:
    own = outside.HERE / "dummy"
    texts = [path.read_text(encoding="utf-8") for path in (own / "dummy_os.py", own / "templates/dummy/device.j2")]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= 32
