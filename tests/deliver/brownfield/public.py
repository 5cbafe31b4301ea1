"""Published sets of configs imported: `python -m tests.deliver.brownfield.public FOLDER…`, a folder a set.

Prints for each set how many of its statements the language explains, how many only overrides carry, and how many stay; its
fabrics in a line each; and over all sets the forms of statements that the language lacks, counted. A set that has a
topology file beside its configs is given as `FOLDER,FILE`. The sets of `tests/reference/public-sets.md` are meant.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from fabric import pipeline
from fabric.audit.checks import ERROR, syntax_of
from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.importing import Imported
from fabric.deliver.brownfield.proof import EQUAL, LABEL
from fabric.deliver.brownfield.reports import shape
from fabric.deliver.brownfield.sources.combined import ImportRequest
from fabric.nos.statements.compare import MISSING
from tests.deliver.brownfield.lacks import page

VALUE = re.compile(r"\S*[\d.:/]\S*|\"[^\"]*\"|\*")
SHOWN_WORDS = 5  # of a form of statements


def import_set(folder: Path, topology: tuple[Path, ...]) -> Imported | str:
    """A set imported, or why not."""
    with tempfile.TemporaryDirectory() as home:
        request = ImportRequest(sources=(folder,), output=Path(home) / "x.yaml", site="site", topology=topology, jobs=1)
        try:
            return pipeline.import_site(request)
        except InputError as error:
            return "; ".join(str(one) for one in error.diagnostics[:3])
        except Exception:
            return traceback.format_exc()


def cabled(made: Imported) -> tuple[int, int, int, int]:
    """Switches of the survey, those that the plan has in their role, links between switches, and those that it has."""
    switches = made.survey.switches
    links = [its for its in made.survey.cables if its.a in switches and its.a_ref is not None]
    left = missing(made)
    return len(switches), len(switches) - left[0], len(links), len(links) - left[1]


def missing(made: Imported) -> tuple[int, int]:
    """Switches that the plan does not have in their role, and links between switches that it lacks."""
    role = {device.name: device.role for fabric in made.plan.fabrics.values() for device in fabric.switches}
    switches = made.survey.switches
    planned: Counter[tuple[str, str]] = Counter()
    for fabric in made.plan.fabrics.values():
        names = [device.name for device in fabric.devices]
        for a, b in zip(fabric.links.a.tolist(), fabric.links.b.tolist(), strict=True):
            planned[names[a], names[b]] += 1
        for row, device in fabric.stood_for.items():
            planned[device.name, names[int(fabric.links.b[row])]] += 1
    there = Counter((its.a, its.b) for its in made.survey.cables if its.a in switches and its.a_ref is not None)
    links = Counter({ends: max(planned[ends], planned[ends[::-1]]) for ends in there})
    return sum(role.get(name) != its.role for name, its in switches.items()), (there - links).total()


def form(text: str) -> str:
    """A statement without its values: its first words."""
    words = VALUE.sub("…", text).split()
    return " ".join(words[:SHOWN_WORDS])


def lacking(made: Imported) -> Counter[tuple[str, str]]:
    """(network OS, form) of what the language does not state, and how often."""
    forms: Counter[tuple[str, str]] = Counter()
    for device in made.before.devices if made.before else ():
        syntax = syntax_of(device.nos)
        for one in device.residuals:
            if one.difference.kind != MISSING:
                path = one.difference.got or one.difference.path
                forms[device.nos, form(syntax.joined(path) if syntax.verb else path[-1])] += one.statements
    return forms


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.deliver.brownfield.public", description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="FOLDER[,FILE]")
    parser.add_argument("--forms", type=int, default=40, help="forms of statements that are listed")
    parser.add_argument("--left", action="store_true", help="list what stays with the overrides")
    parser.add_argument("--lacks", type=Path, metavar="FILE", help="write the page of what the language lacks, by kind")
    asked = parser.parse_args()
    forms: Counter[tuple[str, str]] = Counter()
    by_set: dict[str, Counter[tuple[str, str]]] = {}
    sums: Counter[str] = Counter()
    print("| set | switches | links | statements | language | overrides | different | extra | missing | lines | s |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for text in asked.sets:
        folder, *topology = text.split(",")
        start = time.process_time()
        made = import_set(Path(folder), tuple(map(Path, topology)))
        if isinstance(made, str):
            print(f"| {folder} | {made.strip().splitlines()[-1][:300]} |")
            sums["failed"] += 1
            continue
        row = made.coverage[-1]
        language = made.before.count(EQUAL, LABEL) if made.before else 0
        counts = (row.total, language, row.overrides, row.different, row.unplanned + row.unread, row.missing)
        sums.update(dict(zip(("statements", "language", "overrides", "different", "extra", "missing"), counts, strict=True)))
        switches, planned, links, there = cabled(made)
        cells = " | ".join((f"{planned} of {switches}", f"{there} of {links}", *(f"{number:,}" for number in counts)))
        lines = len(made.text.splitlines())
        print(f"| {folder} | {cells} | {lines} | {time.process_time() - start:.0f} |", flush=True)
        for name, fabric in made.plan.fabrics.items():
            print(f"    {name}: {shape(fabric)}")
        for device in made.after.devices if made.after else ():
            if device.reason:
                print(f"    {device.device}: {device.reason}")
            for one in device.residuals if asked.left else ():
                print(f"    {one.place}: {one.state}: {one.message}")
        for name, why in made.survey.left_out.items():
            print(f"    left out: {name}: {why[:150]}")
        errors = Counter(finding.id for finding in made.survey.findings if finding.severity == ERROR)
        print(
            f"    {made.own and len(made.own.rules)} overrides; findings {dict(errors)}; left out {len(made.survey.left_out)}"
        )
        by_set[text] = lacking(made)
        forms.update(by_set[text])
    print(dict(sums))
    if asked.lacks:
        asked.lacks.write_text(page(by_set, "python -m tests.deliver.brownfield.public --lacks"))
    print(*(f"{number:6,}  {nos:8} {text}" for (nos, text), number in forms.most_common(asked.forms)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
