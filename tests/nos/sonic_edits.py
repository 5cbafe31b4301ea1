"""Random edits of config_db.json: what the YANG models of a release refuse is found, and what they accept is not.

    python -m tests.nos.sonic_edits MODELS [--seed 1] [--edits 1000] [--show 20]

MODELS is a folder of YANG models: `src/sonic-yang-models/yang-models` of sonic-buildimage with the rendered files of
`yang-templates`. The models are applied by SONiC's own `sonic_yang_mgmt`, see tests/nos/sonic/updater/process.py.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from fabric.audit.checks import FilesCheck, Network
from fabric.audit.checks.base import run
from fabric.audit.checks.role_peers.outline import judged
from fabric.nos.reading import read_device
from tests.examples import folder
from tests.nos.sonic.updater.process import RealUpdater

Tables = dict[str, dict[str, dict[str, Any]]]
SITES = ("ai-sonic", "starter", "h100-4su")
REFUSED = {"FAB2545", "FAB274", "FAB281", "FAB290", "FAB2511", "FAB2532", "FAB2534"}  # what a switch does not accept
PORTS = 6  # of a switch that are left
PORT = re.compile(r"Ethernet\d+")
TABLE = re.compile(r"parsed in (\w+)|Data path: /[^/]+/(\w+)")  # in an error of the models
USES = re.compile(r" here and on \d+ more lines?")
NUMBER = re.compile(r"\d+")
WORDS = ("", "0", "-1", "abc", "true", "false", "up", "down", "enable", "disable", "65535", "65536", "4294967296", "NULL")


def bases() -> list[Tables]:
    """A leaf and a spine of some designs, with a few of their ports."""
    found = []
    for site in SITES:
        by_role = {path.parent.name.rstrip("0123456789"): path for path in sorted(folder(site).rglob("config_db.json"))}
        found += [shortened(json.loads(path.read_text())) for _, path in sorted(by_role.items())]
    return found


def shortened(tables: Tables) -> Tables:
    """The tables with the first ports alone."""
    kept = set(list(tables["PORT"])[:PORTS])

    def stays(text: str) -> bool:
        return set(PORT.findall(text)) <= kept

    short: Tables = {}
    for table, rows in tables.items():
        for key, row in rows.items():
            if stays(key):
                fields = {name: value for name, value in row.items() if stays(name) and stays(str(value))}
                short.setdefault(table, {})[key] = fields
    return short


class Edits:
    """Random edits, each of one row."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def edit(self, base: Tables) -> tuple[Tables, str]:
        """A copy with one edit, and what was edited."""
        tables = copy.deepcopy(base)
        choose = self.random.choice
        table = choose(sorted(tables))
        key = choose(sorted(tables[table]))
        row = tables[table][key]
        kind = choose(("value", "value", "value", "row", "name", "field", "key"))
        if kind == "row" or (not row and kind in ("value", "name", "field")):
            del tables[table][key]
            return {name: rows for name, rows in tables.items() if rows}, f"{table}|{key} removed"
        if kind == "key":
            new = self._changed(key)
            tables[table] = {new if own == key else own: fields for own, fields in tables[table].items()}
            return tables, f"{table}|{key} is {new}"
        field = choose(sorted(row))
        if kind == "field":
            del row[field]
            return tables, f"{table}|{key} {field} removed"
        old = row[field]
        text = ",".join(map(str, old)) if isinstance(old, list) else str(old)
        new = f"{text}x" if kind == "name" else self._value(text, tables)
        row[field] = new.split(",") if isinstance(old, list) else new
        return tables, f"{table}|{key} {field}: {text} is {new}"

    def _value(self, text: str, tables: Tables) -> str:
        other = self.random.choice(sorted(tables))
        values = sorted({str(value) for row in tables[other].values() for value in row.values()}) or ["none"]
        return self.random.choice(
            (self._changed(text), self._changed(text), self.random.choice(WORDS), self.random.choice(values))
        )

    def _changed(self, text: str) -> str:
        """A number in it made another one, or a letter more."""
        numbers = list(NUMBER.finditer(text))
        if not numbers:
            return f"{text}x"
        match = self.random.choice(numbers)
        value = int(match[0])
        new = self.random.choice((value + 1, max(0, value - 1), value * 10, value + 100, value * 1_000_000, 0))
        return f"{text[: match.start()]}{new}{text[match.end() :]}"


def complaints(tables: Tables) -> Counter[str]:
    """What the checks of one device's files say that a switch does not accept."""
    facts = read_device("switch", "sonic", {"config_db.json": json.dumps(tables, indent=1)})
    verdict = judged(facts)
    network = Network((facts,), names={id(facts): verdict.names}, refused={id(facts): verdict.refused})
    found = (f"{one.id}: {USES.sub('', one.message)}" for one in run(FilesCheck, network) if one.id in REFUSED)
    return Counter(found)


def accepted(tables: Tables, real: RealUpdater) -> Tables:
    """The tables without those that a release does not know in this form."""
    left = dict(tables)
    while error := real.ask(left, validate=True)["error"]:
        table = TABLE.search(error)
        assert table, error
        del left[table[1] or table[2]]
    return left


def tried(models: str, seed: int, edits: int) -> Iterator[tuple[str, str, list[str]]]:
    """(edit, why the models refuse it or "", what the checks add) of every edit."""
    source, makes = Edits(seed), bases()
    with RealUpdater(models) as real:
        known = [(base, complaints(base)) for base in (accepted(base, real) for base in makes)]
        for at in range(edits):
            base, before = known[at % len(known)]
            tables, what = source.edit(base)
            yield what, real.ask(tables, validate=True)["error"], sorted(complaints(tables) - before)


def main() -> int:
    """Prints the figures, and edits on which the checks and the models do not agree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--show", type=int, default=20)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    shown: list[str] = []
    for what, why, found in tried(options.models, options.seed, options.edits):
        verdict = ("refused" if why else "accepted", "found" if found else "silent")
        counts[" and ".join(verdict)] += 1
        if bool(why) != bool(found):
            shown.append(f"{' and '.join(verdict)}: {what}: {(why or found[0])[:300]!r}")
    refused = counts["refused and found"] + counts["refused and silent"]
    accepted = counts["accepted and found"] + counts["accepted and silent"]
    print("\n".join(shown[: options.show]))
    print(f"seed {options.seed}: {refused} refused, {counts['refused and found']} of them found")
    print(f"{accepted} accepted, {counts['accepted and found']} of them reported")
    return 0


if __name__ == "__main__":
    sys.exit(main())
