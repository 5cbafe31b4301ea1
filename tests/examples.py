"""What the examples of `intent/` generate: in `generated/` for five small sites, made when a test asks for the others.

Of the others `tests/golden/examples/SITE.sha256` holds the digest of every file, so the same bytes are guarded. What changed
in them, line by line, is shown by `python -m tests.examples [--against REVISION] [SITE]...`: what that revision of the
repository generates, compared with what the working tree does. If it is meant, `UPDATE_GOLDEN=1 pytest
tests/system/test_examples.py` writes the digests again.
"""

from __future__ import annotations

import argparse
import fcntl
import subprocess
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePath, PurePosixPath
from tempfile import TemporaryDirectory

from fabric import pipeline
from tests import ROOT
from tests.goldens import GOLDEN

GENERATED = ROOT / "generated"
DIGESTS = GOLDEN / "examples"
COMMITTED = ("ai-cumulus", "ai-eos", "evpn-lab", "starter", "three-tier")
DIGESTED = (
    "ai-frr",
    "ai-junos",
    "ai-nxos",
    "ai-sonic",
    "era-2-4-3-200",
    "era-2-8-5-200",
    "era-2-8-9-400",
    "gb300-twin-plane",
    "h100-4su",
    "lab",
)  # not b200-3tier, by its size
SUBNETS = ("superpod-b200", "superpod-h100")  # InfiniBand: no config of a switch; digests as well
SITES = tuple(sorted(COMMITTED + DIGESTED))
GENERATE = "from fabric.cli import main; main()"  # of the folder it runs in


@cache
def folder(site: str) -> Path:
    """What `intent/SITE.yaml` generates, as a folder."""
    if site in COMMITTED:
        return GENERATED / site
    intent = pipeline.load(ROOT / "intent" / f"{site}.yaml", _scratch() / "generated")
    with (_scratch() / f"{site}.whole").open("a+") as whole:
        fcntl.flock(whole, fcntl.LOCK_EX)
        if not whole.tell():
            pipeline.generate(intent, jobs=1).write()
            whole.write("yes")
    return intent.folder


SHARED: list[Path] = []  # a folder of all workers of a run, if there are several


@cache
def _scratch() -> Path:
    """Kept until the process ends, or as long as pytest keeps the folder of a run."""
    if SHARED:
        SHARED[0].mkdir(exist_ok=True)
        return SHARED[0]
    made = TemporaryDirectory(prefix="fabric-examples-")
    _KEPT.append(made)
    return Path(made.name)


_KEPT: list[TemporaryDirectory[str]] = []


def paths(pattern: str) -> list[PurePosixPath]:
    """`SITE/configs/NAME/FILE` of all examples that match; nothing is generated for it."""
    return sorted(path for site in SITES for path in _listed(site) if path.match(pattern))


@cache
def _listed(site: str) -> tuple[PurePosixPath, ...]:
    if site in COMMITTED:
        return tuple(PurePosixPath(path.relative_to(GENERATED)) for path in (GENERATED / site).rglob("*") if path.is_file())
    lines = (DIGESTS / f"{site}.sha256").read_text(encoding="utf-8").splitlines()
    return tuple(PurePosixPath(site, line.partition("  ")[2]) for line in lines)


def located(path: PurePath) -> Path:
    """The file or folder itself; a path of another place than the examples stays what it is."""
    return Path(path) if path.is_absolute() else folder(path.parts[0]).joinpath(*path.parts[1:])


def digests(site: str) -> str:
    """One line per file, as `sha256sum` writes it."""
    home = folder(site)
    files = sorted(path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file())
    return "".join(f"{sha256((home / name).read_bytes()).hexdigest()}  {name}\n" for name in files)


def _generate(tree: Path, site: str, output: Path) -> None:
    """By the code, the templates and the intent of a tree."""
    command = [sys.executable, "-c", GENERATE, "generate", f"intent/{site}.yaml", "-o", str(output)]
    subprocess.run(command, cwd=tree, stdout=subprocess.DEVNULL, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.examples", description=__doc__.partition("\n")[0])
    parser.add_argument("site", nargs="*", default=DIGESTED, help=f"of {', '.join(SITES)}")
    parser.add_argument("--against", default="HEAD", metavar="REVISION")
    asked = parser.parse_args()
    with TemporaryDirectory() as scratch:
        tree = Path(scratch, "tree")
        tree.mkdir()
        archive = subprocess.run(["git", "archive", asked.against], cwd=ROOT, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
        for site in asked.site:
            _generate(tree, site, Path(scratch, "old"))
            _generate(ROOT, site, Path(scratch, "new"))
        sys.exit(
            subprocess.run(["git", "diff", "--no-index", "--no-prefix", "old", "new"], cwd=scratch, check=False).returncode
        )


if __name__ == "__main__":
    main()
