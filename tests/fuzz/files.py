"""Damaged files of other kinds than intents: configs, LLDP outputs, prices, measured tables, steps, locks."""

from __future__ import annotations

import json
import random
import tempfile
from functools import cache
from pathlib import Path

from tests import ROOT
from tests.audit.cabling.lldp_writers import WRITERS, Floor, write
from tests.examples import folder
from tests.fuzz import damage
from tests.fuzz.case import Case, rng

SMALL = ("ai-cumulus", "ai-eos", "ai-frr", "ai-junos", "ai-nxos", "ai-sonic", "evpn-lab", "lab", "starter")
DEVICE = "device %2d [0x07] NVIDIA H100 80GB HBM3\n"
NCCL = b"""\
# nThread 1 nGpus 1 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1
#
# Using devices
%s#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    231.1    4.54    8.51      0    230.0    4.56    8.55      0
    33554432       8388608     float     sum      -1    568.5   59.02  110.66      0    570.0   58.87  110.38      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 100.0
""" % "".join(
    f"#  Rank {rank:2} Group  0 Pid {rank + 1} on gpu-{rank // 8 + 1:04} {DEVICE % (rank % 8)}" for rank in range(16)
).encode()
Folder = dict[str, bytes]


@cache
def tree(site: str, part: str = "configs") -> tuple[tuple[str, bytes], ...]:
    """The files of a generated site, by their path below `part`."""
    home = folder(site) / part
    return tuple((str(path.relative_to(home)), path.read_bytes()) for path in sorted(home.rglob("*")) if path.is_file())


@cache
def measured() -> tuple[bytes, ...]:
    paths = sorted((ROOT / "tests" / "reference" / "collectives").glob("*.yaml"), key=lambda path: path.stat().st_size)
    return tuple(path.read_bytes() for path in paths[:12])


@cache
def lldp_outputs(name: str) -> tuple[tuple[str, bytes], ...]:
    """LLDP outputs of all switches of a site in the shape of one writer."""
    from fabric import pipeline
    from fabric.audit.cabling.planned import planned

    site, writer = WRITERS[name]
    made = pipeline.plan(pipeline.load(ROOT / "intent" / f"{site}.yaml"))
    with tempfile.TemporaryDirectory() as folder:
        paths = write(Path(folder), Floor(planned(made)), writer)
        return tuple((str(path.relative_to(folder)), path.read_bytes()) for path in paths)


def _hurt(dice: random.Random, data: bytes) -> bytes:
    """Mostly damage after which there is something left to read."""
    return damage.damaged(dice, data, damage.GENTLE if dice.random() < 0.7 else damage.ANY)


def _document(dice: random.Random, data: bytes) -> bytes:
    """JSON whose values change their types; other texts as `_hurt` leaves them."""
    try:
        value = json.loads(data)
    except ValueError:
        return _hurt(dice, data)
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = value
        while isinstance(at, dict | list) and at:
            key = dice.choice(list(at) if isinstance(at, dict) else range(len(at)))
            below = at[key]  # type: ignore[index]
            if not isinstance(below, dict | list) or dice.random() < 0.2:
                odd = (None, [], {}, "", -1, 10**30, 1e308, True, [[]], {"": None}, "\u202e", [below], {"x": below}, "None")
                at[key] = dice.choice(odd)  # type: ignore[index]
                break
            at = below
    return json.dumps(value).encode() if dice.random() < 0.9 else _hurt(dice, json.dumps(value, indent=1).encode())


def configs(seed: int, number: int) -> Case:
    """`fabric check --configs` on damaged configs of one OS, or of two."""
    dice = rng("configs", seed, number)
    files: Folder = {}
    for site in dice.sample(SMALL, dice.choice((1, 1, 1, 2))):
        whole = dict(tree(site))
        devices = sorted({name.split("/")[0] for name in whole})
        for device in dice.sample(devices, min(len(devices), dice.choice((1, 2, 3)))):
            files |= {f"d/{name}": data for name, data in whole.items() if name.startswith(f"{device}/")}
    for name in dice.sample(sorted(files), min(len(files), dice.choice((1, 1, 2)))):
        files[name] = (_document if name.endswith(".json") else _hurt)(dice, files[name])
    form = dice.choice(("text", "text", "json", "sarif", "junit", "github"))
    return Case("configs", number, ("check", "--configs", "d", "--jobs", "1", "--format", form), files)


def edited(seed: int, number: int) -> Case:
    """`fabric check` or `generate --diff` on a generated tree of which files were edited."""
    dice = rng("edited", seed, number)
    site = dice.choice(("starter", "lab", "evpn-lab"))
    files = {f"generated/{site}/{name}": data for name, data in tree(site, ".")}
    able = [name for name in files if not name.endswith(("lock.yaml", "manifest.txt"))]
    for name in dice.sample(able, dice.choice((1, 1, 3))):
        files[name] = (_document if name.endswith(".json") else _hurt)(dice, files[name])
    files[f"{site}.yaml"] = (ROOT / "intent" / f"{site}.yaml").read_bytes()
    commands = ("check {}.yaml --jobs 1", "generate {}.yaml --diff --jobs 1", "generate {}.yaml --check", "generate {}.yaml")
    return Case("edited", number, tuple(dice.choice(commands).format(site).split()), files)


def lldp(seed: int, number: int) -> Case:
    """`fabric cabling verify` on what damaged outputs tell."""
    dice = rng("lldp", seed, number)
    writer = dice.choice(sorted(WRITERS))
    files = {f"lldp/{name}": data for name, data in lldp_outputs(writer)}
    for name in dice.sample(sorted(files), min(len(files), dice.choice((1, 1, 2, 5)))):
        files[name] = (_document if dice.random() < 0.5 else _hurt)(dice, files[name])
    files["x.yaml"] = (ROOT / "intent" / f"{WRITERS[writer][0]}.yaml").read_bytes()
    form = dice.choice(("text", "text", "json", "csv", "junit"))
    return Case("lldp", number, ("cabling", "verify", "x.yaml", "lldp", "--format", form), files)


def prices(seed: int, number: int) -> Case:
    """`fabric bom --prices` and `explore --prices` with a damaged price file."""
    dice = rng("prices", seed, number)
    data = damage.damaged(
        dice, (ROOT / "docs" / "prices-example.yaml").read_bytes(), damage.YAML if dice.random() < 0.3 else damage.GENTLE
    )
    site = dice.choice(("starter", "ai-eos"))
    files = {"p.yaml": data, "x.yaml": (ROOT / "intent" / f"{site}.yaml").read_bytes()}
    explore = ("explore", "x.yaml", "--vary", "oversubscription=1,2", "--jobs", "1", "--prices", "p.yaml")
    return Case("prices", number, explore if dice.random() < 0.1 else ("bom", "x.yaml", "--prices", "p.yaml"), files)


def tables(seed: int, number: int) -> Case:
    """`fabric model score`, `calibrate` and `estimate --measured` on damaged measured tables."""
    dice = rng("tables", seed, number)
    name = dice.choice(("t.txt", "t.yaml", "t.yaml"))
    data = NCCL if name == "t.txt" else dice.choice(measured())
    files = {name: damage.damaged(dice, data, damage.YAML if dice.random() < 0.3 else damage.GENTLE)}
    commands = (
        [("model", "score", name)] * 6
        + [("model", "score", name, "--json")] * 2
        + [("model", "calibrate", name, "-o", "p.yaml")]
    )
    if dice.random() < 0.2:
        files["x.yaml"] = (ROOT / "intent" / "starter.yaml").read_bytes()
        commands = [("estimate", "x.yaml", "--plot", "x.svg", "--measured", name)]
    return Case("tables", number, dice.choice(commands), files)


def steps(seed: int, number: int) -> Case:
    """`fabric step` with a damaged model."""
    dice = rng("steps", seed, number)
    data = damage.damaged(
        dice, (ROOT / "docs" / "step-70b.yaml").read_bytes(), damage.YAML if dice.random() < 0.3 else damage.GENTLE
    )
    files = {"s.yaml": data, "x.yaml": (ROOT / "intent" / dice.choice(("h100-4su.yaml", "starter.yaml"))).read_bytes()}
    return Case("steps", number, ("step", "x.yaml", "--job", "s.yaml", *(("--json",) if dice.random() < 0.3 else ())), files)


def locks(seed: int, number: int) -> Case:
    """A lock that was edited: `plan`, `generate` and `check` on it."""
    dice = rng("locks", seed, number)
    site = dice.choice(SMALL)
    home = f"generated/{site}"
    files = {
        f"{home}/lock.yaml": damage.damaged(
            dice, dict(tree(site, "."))["lock.yaml"], damage.YAML if dice.random() < 0.3 else damage.GENTLE
        )
    }
    files[f"{site}.yaml"] = (ROOT / "intent" / f"{site}.yaml").read_bytes()
    commands = ("plan {}.yaml", "plan {}.yaml", "plan {}.yaml --json", "generate {}.yaml --jobs 1")
    return Case("locks", number, tuple(dice.choice(commands).format(site).split()), files)
