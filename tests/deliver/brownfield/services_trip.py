"""Random designs: sections beside topology are taken out of the intent, found in the generated configs, and planned again.

    python -m tests.deliver.brownfield.services_trip --designs 300 --seed 22

Prints the share of config files that are the same bytes, and the first lines that differ in each design where some are not.
"""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.configs.generate import Renderer
from fabric.deliver.brownfield.sections.probes import Document, plan_of
from fabric.deliver.brownfield.sections.running import merged
from fabric.deliver.brownfield.sections.services import Sections, sections
from fabric.model.plan import Plan
from fabric.nos.reading import read_device
from tests.deliver.brownfield.oracle import survey_of
from tests.system.random_designs.drawing import draw

OF_FABRIC = ("management", "releases", "overlay", "tenants", "qos", "checks")
SHOWN = 6  # lines of a file that differs

Files = Mapping[tuple[str, str], str]  # (switch, file) → text


@dataclass(frozen=True)
class Trip:
    """One design: its files, those of what was found, and why that was refused, "" where it was not."""

    nos: Mapping[str, str]
    planned: Files
    again: Files
    found: Sections
    refused: str = ""

    @property
    def different(self) -> list[tuple[str, str]]:
        return [key for key, text in self.planned.items() if self.again.get(key) != text]

    def lines(self, key: tuple[str, str]) -> list[str]:
        """Lines of a file that differ."""
        sides = (self.planned[key].splitlines(), self.again.get(key, "").splitlines())
        return [line for line in difflib.unified_diff(*sides, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]


def bare(document: Document) -> Document:
    """An intent without the sections that are to be found, and without overrides, which no section states."""
    site = {key: value for key, value in document.items() if key not in ("management", "releases", "overrides")}
    return {**site, "fabrics": {name: _bare(fabric) for name, fabric in document["fabrics"].items()}}


def _bare(fabric: Document) -> Document:
    kept = {key: value for key, value in fabric.items() if key not in (*OF_FABRIC, "underlay")}
    numbers = {key: value for key, value in fabric.get("underlay", {}).items() if key in ("asn", "link_subnets")}
    topology = {key: value for key, value in fabric["topology"].items() if key not in ("attachments", "cable_length_m")}
    return {**kept, "topology": topology, **({"underlay": numbers} if numbers else {})}


def trip(document: Document) -> Trip | None:
    """Generates an intent, finds its sections in the configs, and generates again; None for an intent that is refused."""
    document = {key: value for key, value in document.items() if key != "overrides"}
    try:
        plan = plan_of(document)
        planned = dict(files_of(plan))
    except InputError:
        return None
    nos = {device.name: device.nos for fabric in plan.fabrics.values() for device in fabric.switches}
    facts = {
        name: read_device(
            name, nos[name], {f"configs/{name}/{file}": text for (own, file), text in planned.items() if own == name}
        )
        for name in dict.fromkeys(name for name, _ in planned)
    }
    stripped = bare(document)
    found = sections(survey_of(plan, facts), stripped)
    again = merged(stripped, found.document)
    _follow(document, again)
    try:
        return Trip(nos, planned, dict(files_of(plan_of(again, found.lock))), found)
    except InputError as error:
        return Trip(nos, planned, {}, found, str(error))


def files_of(plan: Plan) -> Iterator[tuple[tuple[str, str], str]]:
    """The config files of a plan."""
    renderer = Renderer(plan, Path())
    for job in renderer.jobs(lambda name: True):
        for path, data in renderer.files(job):
            yield (job.device.name, path.rpartition("/")[2]), data.decode()


def _follow(document: Document, again: Document) -> None:
    """`below` states a network by its name, which some network OSes do not configure: that of the same place is meant."""
    for fabric in again["fabrics"].values():
        below = fabric.get("below", {})
        if "network" not in below:
            continue
        before, after = (_networks(side["fabrics"][below["fabric"]], below["tenant"]) for side in (document, again))
        if below["network"] in before and len(before) == len(after):
            fabric["below"] = {**below, "network": after[before.index(below["network"])]}


def _networks(fabric: Document, tenant: str) -> list[str]:
    tenants: Any = fabric.get("tenants", [])
    every = tenants if isinstance(tenants, list) else [tenants]
    return [network["name"] for one in every if one["name"] == tenant for network in one.get("networks", ())]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.brownfield.services_trip", description=__doc__)
    parser.add_argument("--designs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first design")
    parser.add_argument("--seed", type=int, default=22)
    asked = parser.parse_args()
    files = same = designs = whole = 0
    start = time.process_time()
    for number in range(asked.first, asked.first + asked.designs):
        its = trip(draw(asked.seed, number).intent)
        if its is None:
            continue
        different = its.different
        designs, whole = designs + 1, whole + (not different)
        files, same = files + len(its.planned), same + len(its.planned) - len(different)
        for name, file in dict.fromkeys((its.nos[name], file) for name, file in different):
            first = next(key for key in different if (its.nos[key[0]], key[1]) == (name, file))
            print(f"design {number}: {len(different)} of {len(its.planned)} files; {name} {'/'.join(first)} {its.refused}")
            print("".join(f"    {line[:150]}\n" for line in its.lines(first)[:SHOWN]) if not its.refused else "", end="")
    seconds = time.process_time() - start
    share = same / max(1, files)
    print(f"{designs} designs, {whole} whole; {same} of {files} files are equal ({share:.2%}); {seconds:.0f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main())
