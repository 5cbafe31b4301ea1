"""Each format and each way to write for people has one place; these are what else may touch a library, and why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import fabric

PACKAGE = Path(fabric.__file__).parent
# What only one place may do → that place, and the files that may do it too, each with the reason.
RULES: dict[str, tuple[str, str, dict[str, str]]] = {
    "JSON": (
        r"json\.dumps?\(",
        "base/formats/documents.py",
        {
            "deliver/report/data.py": "a page's data, packed without blanks",
            "nos/sonic/batfish.py": "a copy for Batfish whose lines are mapped to those of the file",
            "lab/collect.py": "answers of commands, on one line as a switch gives them",
        },
    ),
    "CSV": (r"csv\.(Dict)?[wW]riter\(", "base/formats/documents.py", {}),
    "YAML": (
        r"yaml\.(safe_)?dump(_all)?\((?!.*head)|CSafeDumper",
        "base/formats/yaml.py",
        {
            "deliver/export/kubernetes.py": "yaml is fabric.base.formats.yaml there",
            "deliver/acceptance/files.py": "likewise",
            "deliver/export/slurm.py": "likewise",
            "deliver/export/ansible.py": "likewise",
            "deliver/export/anta.py": "likewise",
            "deliver/export/collect.py": "likewise",
            "deliver/export/network_operator.py": "likewise",
        },
    ),
    "JUnit": (r"testsuites?\"", "base/formats/junit.py", {}),
    "XLSX": (
        r"openpyxl|spreadsheetml",
        "base/formats/xlsx.py",
        {"base/formats/workbooks.py": "reads what others wrote, by a library"},
    ),
    "SVG": (r"<(svg|rect|circle|text|path)[ >]", "base/formats/svg.py", {}),
    "tables": (r"\.(l|r)just\(|:[<>]?\{wid(e|th)", "base/text/screen.py", {"lab/machine/packets.py": "bytes of a packet"}),
    "nouns": (r"'s'\[|\"s\"\[|'s' \* \(\w+ != 1|else 's'|else \"s\"|if .* == 1 else \"s\"", "base/text/screen.py", {}),
    "what a list leaves out": (
        r"(and|…) \{[^}]*\} more\b|\", …\"|… \(\{len|[\"'], [\"']\.join\([^()]*\[:",
        "base/text/screen.py",
        {
            "deliver/export/containerlab.py": "a comment in a generated file, whose bytes stay",
            "deliver/report/hardware.py": "names the first racks and the last",
        },
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_one_place(rule: str) -> None:
    pattern, home, others = RULES[rule]
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]
    assert [line for line in found if not line.startswith((home, *others))] == []


@pytest.mark.parametrize(("rule", "other"), [(rule, other) for rule, (_, _, others) in RULES.items() for other in others])
def test_every_exception_is_needed(rule: str, other: str) -> None:
    files = [PACKAGE / other] if other.endswith(".py") else sorted((PACKAGE / other).rglob("*.py"))
    assert any(re.search(RULES[rule][0], file.read_text(encoding="utf-8")) for file in files)
