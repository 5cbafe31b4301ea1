"""Whether every statement that is generated has a row in `values.yaml` or `refused.yaml`, or is open with a reason.

`python -m tests.nos.statements.complete` plans every intent of `intent/` and of `tests/reference/`, and the small designs of
every network OS, renders one switch of each role, and prints the statements that no row names, and those that are refused. A
test does so for a few of them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

import yaml

from fabric import pipeline
from fabric.audit.checks.role_peers.outline import judged
from fabric.audit.checks.statements import syntax_of
from fabric.model.facts import Facts
from fabric.nos.reading import read_device
from tests import ROOT
from tests.audit.checks.batfish.helpers import DESIGNS, SWITCHES, small_intent

INTENTS = tuple(sorted((ROOT / "intent").glob("*.yaml")))
DESIGNS_OF_OTHERS = tuple(
    path for folder in ("designs", "eras") for path in sorted((ROOT / "tests" / "reference" / folder).glob("*.yaml"))
)
SMALL = tuple((nos, design) for nos in SWITCHES for design in DESIGNS)


@dataclass
class Coverage:
    """Statements with a value, those that no row names and no list has, and those that are refused."""

    statements: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)

    def add(self, facts: Facts) -> None:
        syntax = syntax_of(facts.nos)
        texts = {syntax.joined(statement) for statement in syntax.read(facts.texts)}
        with_values = {text for text in texts if re.search(r"\d", text) and " description " not in text}
        patterns = [row.line for row in syntax.accepted.rows] + [line for line, _ in syntax.accepted.open]
        self.statements |= with_values
        self.unknown |= {text for text in with_values if not any(line.fullmatch(text) for line in patterns)}
        self.refused |= {f"{one.place.file}:{one.place.line}: {one.message}" for one in judged(facts).refused}


def one_of_each_role(path: Path, output: Path) -> Iterator[Facts]:
    """The first switch of every role of an intent's fabrics, read back from what is rendered."""
    intent = pipeline.load(path, output)
    plan = pipeline.plan(intent)
    renderer = pipeline.render(plan, intent)
    first: dict[tuple[str, str, str], str] = {}
    for name, fabric in plan.fabrics.items():
        for device in fabric.switches:
            if device.nos:
                first.setdefault((name, device.role, device.nos), device.name)
    names = set(first.values())
    for job in renderer.jobs(lambda name: name in names):
        if job.device.name in names:
            files = {path: data.decode() for path, data in renderer.files(job)}
            yield read_device(job.device.name, job.device.nos, files)


def written_out(path: Path, output: Path) -> Path:
    """The intent of a published design, with the numbers of its first row."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    given = (document.get("rows") or [{}])[0].get("given", {})
    text = Template(document["intent"]).safe_substitute(
        {key: value if isinstance(value, str) else json.dumps(value) for key, value in given.items()}
    )
    (output / path.name).write_text(text, encoding="utf-8")
    return output / path.name


def coverage(path: Path, output: Path) -> Coverage:
    found = Coverage()
    for facts in one_of_each_role(path, output):
        found.add(facts)
    return found


def main() -> int:
    total = Coverage()
    with TemporaryDirectory() as folder:
        published = [written_out(path, Path(folder)) for path in DESIGNS_OF_OTHERS]
        small = [small_intent(Path(folder) / f"{nos}-{design}.yaml", nos, design) for nos, design in SMALL]
        every = [*INTENTS, *published, *small]
        for path in every:
            found = coverage(path, Path(folder) / path.stem)
            counts = f"{len(found.unknown)} unknown, {len(found.refused)} refused"
            print(f"{path.stem}: {len(found.statements):,} statements, {counts}", flush=True)
            for text in sorted(found.unknown | found.refused):
                print(f"  {text}")
            total.statements |= found.statements
            total.unknown |= found.unknown | found.refused
    missing = len(total.unknown)
    print(f"{len(every)} intents, {len(total.statements):,} statements with a value, {missing} without a row or refused")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
