"""Random converged designs as labs: each is drawn with FRR on every switch, and vtysh reads every frr.conf of it.

python -m tests.lab.converged_designs --designs 30 --seed 5
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.lab.blueprint import Blueprint
from fabric.lab.up_down import Choices
from tests.system.random_designs.drawing import draw


def drawn(path: Path, nos: str = "frr") -> Blueprint:
    """The lab of an intent with another network OS. Raises InputError."""
    lab = pipeline.lab(pipeline.load(path))
    lab.choices = Choices(as_nos=nos)
    return lab.blueprint


def refused(lab: Blueprint, folder: Path) -> list[str]:
    """What vtysh says of the files of a lab, without daemons: "leaf001: line 12: …"; [] if it reads all of them."""
    messages = []
    for node in lab.nodes.values():
        if node.routed:
            path = folder / f"{node.name}.conf"
            path.write_text(node.frr_conf, encoding="utf-8")
            done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, check=False)
            if done.returncode or done.stderr.strip():
                messages.append(f"{node.name}: {(done.stdout + done.stderr).strip()}")
    return messages


def planned(seed: int, count: int, folder: Path) -> Iterator[Path]:
    """The first converged designs of a seed that can be planned, each in a folder of its own."""
    for number in itertools.count():
        design = draw(seed, number, 1.0)
        path = folder / str(number) / "intent.yaml"
        for file, text in {path: design.text, **{path.parent / name: text for name, text in design.files.items()}}.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        try:
            pipeline.plan(pipeline.load(path))
        except InputError:
            continue
        yield path
        count -= 1
        if not count:
            return


def main(arguments: Sequence[str]) -> int:
    """See the head of the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--designs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        for path in planned(asked.seed, asked.designs, Path(folder)):
            try:
                lab = drawn(path)
            except InputError as error:
                counts["refused"] += 1
                print(f"design {path.parent.name}: {error}")
                continue
            messages = refused(lab, path.parent)
            counts["wrong" if messages else "drawn"] += 1
            counts["switches"] += len(lab.views)
            counts["with bonds"] += any(own.bond for node in lab.nodes.values() for own in node.interfaces)
            for message in messages:
                print(f"design {path.parent.name}: {message}")
    print(f"{asked.designs} designs: {', '.join(f'{count} {word}' for word, count in counts.items())}")
    return 1 if counts["wrong"] or counts["refused"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
