"""All damage judged by the configs of the design alone, a file per switch, and `by_equals.json` with its counts.

    python -m tests.audit.checks.all_damage DIR [NOS…] [--each N] [--again]    judges; goes on where an earlier run ended
    python -m tests.audit.checks.all_damage DIR --write                        counts what DIR has, to by_equals.json

As many processes as there are cores judge one switch each. With `--each N`, of the damage of one kind to lines that differ in
numbers alone, on all switches of a network OS, N files are judged at random and stand for all. `--again` judges what was
missed once more, after a check was improved, and believes what was found.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabric.audit.checks import ERROR, WARNING
from fabric.base.processes import in_chunks
from tests.audit.checks.by_equals import COUNTS, KINDS, Alone, Rates, line_of, with_equals
from tests.audit.checks.damage import CHANGED, NUMBER, WORD, Damage, damages
from tests.audit.checks.every_line import FOUND, SEED, Judge
from tests.audit.checks.principle import GAP
from tests.audit.checks.shapes import SYSTEMS, Switch

FORMS = 12  # forms of statements with the most gaps per network OS that are written down
Chosen = dict[int, int]  # position of a damage among those of its switch → damaged files that it stands for


def key_of(switch: Switch) -> str:
    """`eos.routed.backend-leaf001`."""
    return f"{switch.nos}.{switch.shape}.{switch.view.device.name}"


@dataclass(frozen=True)
class Task:
    """How switches are judged, and where the results go."""

    folder: Path
    each: int
    chosen: Mapping[str, Chosen] | None
    again: bool
    commit: str

    def run(self, switch: Switch) -> str:
        path = self.folder / f"{key_of(switch)}.json"
        commits, each = [self.commit], self.each
        if self.again:
            before = read(path)
            commits, each = sorted({*before["commits"], self.commit}), before["each"]
            result = judged_again(switch, Rates.from_dict(before))
        elif path.exists():
            return ""
        else:
            result = judged_all(switch, self.chosen[key_of(switch)] if self.chosen is not None else None)
        text = json.dumps({"commits": commits, "each": each, **result.as_dict()}, indent=1) + "\n"
        whole = path.with_suffix(".new")  # a run that is stopped leaves no half a file
        whole.write_text(text, encoding="utf-8")
        whole.replace(path)
        found, every = result.of(*KINDS)
        return f"{key_of(switch)}: {found} of {every}"


def read(path: Path) -> dict[str, Any]:
    """The results of a switch."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def commit() -> str:
    """The commit of the working tree, with a plus sign where files differ from it."""
    git = ["git", "-C", str(Path(__file__).parent)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True, check=False).stdout
    return head + ("+" if changed.strip() else "")


def keep(todo: Sequence[Switch], task: Task) -> Iterator[str]:
    """Judges switches; what was done, switch by switch."""
    task.folder.mkdir(parents=True, exist_ok=True)
    for chunk in in_chunks(task.run, todo, 0, chunk=1, least=2):
        yield from filter(None, chunk)


def judged_all(switch: Switch, chosen: Chosen | None) -> Rates:
    """All damage of one switch, or what was chosen of it."""
    judge, alone, result = Judge(switch), Alone(switch), Rates()
    for at, damage in enumerate(damages(switch)):
        weight = 1 if chosen is None else chosen.get(at, 0)
        if weight and judge.outcome(damage) == FOUND:
            alone.count(damage, result, weight)
    return result


def judged_again(switch: Switch, before: Rates) -> Rates:
    """What was missed judged once more; what was found is believed."""
    alone, result = Alone(switch), Rates(Counter(before.counts), Counter(before.codes))
    for kind in KINDS:
        del result.counts[kind, ""]
    known = {(one.kind, one.file, one.line, one.what): one.weight for one in before.missed}
    for damage in damages(switch):
        weight = known.pop((damage.kind, damage.file, damage.line + 1, damage.what.strip()), 0)
        if weight:
            alone.count(damage, result, weight)
    if known:
        raise ValueError(f"{key_of(switch)}: damage that is made no more: {sorted(known)[:3]}")
    result.judged = before.judged
    return result


def choice(todo: Sequence[Switch], each: int) -> dict[str, Chosen]:
    """At most `each` damaged files of every form, with how many they stand for: switch → position → files."""
    chance, forms = random.Random(SEED), defaultdict[str, list[tuple[str, int]]](list)
    for switch in todo:
        for at, damage in enumerate(damages(switch)):
            forms[_form(switch, damage)].append((key_of(switch), at))
    chosen: dict[str, Chosen] = {key_of(switch): {} for switch in todo}
    for places in forms.values():
        judged = min(each, len(places))
        for index, (key, at) in enumerate(chance.sample(places, judged)):
            chosen[key][at] = len(places) // judged + (index < len(places) % judged)
    return chosen


def _form(switch: Switch, damage: Damage) -> str:
    """The same for damage of one kind to lines that differ in numbers alone, and of the word at one position."""
    at = 0
    if damage.kind == CHANGED:
        before = WORD.findall(line_of(switch, damage))
        at = next(at for at, pair in enumerate(zip(before, WORD.findall(damage.what), strict=True)) if len(set(pair)) > 1)
    return f"{switch.nos} {damage.kind} {damage.file.rpartition('/')[2]} {at} {NUMBER.sub('#', damage.what)}"


# --- what is written down ---------------------------------------------------------------------------------------


def counted(folder: Path) -> dict[str, Any]:
    """The document `by_equals.json`: a row per switch, and the forms of statements with the most gaps per network OS."""
    rows, gaps = list[dict[str, Any]](), dict[str, list[list[object]]]()
    commits, each = set[str](), dict[str, int]()
    for nos in SYSTEMS:
        forms = Counter[tuple[str, str]]()
        for switch in with_equals(nos):
            path = folder / f"{key_of(switch)}.json"
            if not path.exists():
                print(f"not judged: {key_of(switch)}")
                continue
            document = read(path)
            commits |= set(document["commits"])
            each[nos] = max(document["each"], each.get(nos, 0))
            result = Rates.from_dict(document)
            rows.append(row_of(switch, result))
            for one in result.missed:
                if one.reason == GAP:
                    forms[one.kind, one.form] += one.weight
        gaps[nos] = [[count, kind, form] for (kind, form), count in forms.most_common(FORMS)]
    return {"commits": sorted(commits), "each": each, "rows": rows, "gaps": gaps}


def row_of(switch: Switch, result: Rates) -> dict[str, Any]:
    """The counts of a switch, without the lines."""
    missed = defaultdict[str, dict[str, int]](dict)
    for (kind, reason), count in sorted(result.reasons.items()):
        missed[kind][reason] = count
    return {
        "nos": switch.nos,
        "shape": switch.shape,
        "device": switch.view.device.name,
        "damaged": sum(1 for _ in damages(switch)),
        "judged": result.judged,
        "found": {
            kind: [result.counts[kind, severity] for severity in (ERROR, WARNING)] for kind in KINDS if any(result.of(kind))
        },
        "missed": missed,
        "blamed": dict(sorted(result.blamed.items())),
    }


def written(document: Mapping[str, Any]) -> str:
    """JSON with a line per row."""
    parts = []
    for key, value in document.items():
        text = json.dumps(value)
        if isinstance(value, dict):
            text = "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in value.items()) + "\n}"
        elif key == "rows":
            text = "[\n" + ",\n".join(json.dumps(one) for one in value) + "\n]"
        parts.append(f"{json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> None:
    """Judges, or writes the counts."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.audit.checks.all_damage", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="results, a file per switch")
    parser.add_argument("nos", nargs="*", help="network OS; all unless stated")
    parser.add_argument("--each", type=int, default=0, help="damaged files of one form that are judged for all; 0 for all")
    parser.add_argument("--again", action="store_true", help="judge what was missed once more")
    parser.add_argument("--write", action="store_true", help="write by_equals.json")
    args = parser.parse_args()
    if args.write:
        COUNTS.write_text(written(counted(args.folder)), encoding="utf-8")
        return
    for nos in args.nos or SYSTEMS:
        todo = list(with_equals(nos))
        chosen = choice(todo, args.each) if args.each else None
        for line in keep(todo, Task(args.folder, args.each, chosen, args.again, commit())):
            print(line, flush=True)


if __name__ == "__main__":
    main()
