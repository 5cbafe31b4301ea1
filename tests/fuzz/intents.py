"""Intents from a seed: the shipped ones and small designs of all kinds, with keys, numbers, shapes and text changed."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import yaml

from tests import ROOT
from tests.fuzz import damage
from tests.fuzz.case import Case, intents, rng
from tests.fuzz.values import ODD, SERVERS, SWITCHES, SYSTEMS, TEXTS, places, value, whole

KINDS = ("rail-optimized", "rack", "rail-only", "collapsed")
LARGE = ("b200-3tier", "gb300-twin-plane", "h100-4su")
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 31, 32, 33, 48, 63, 64, 100, 127, 128, 256, 999, 1024, 4096, 12_500, 125_000)
NUMBERS += (338_630, 1_000_000, 9_999_999, 10_000_000)


@cache
def shipped() -> tuple[tuple[str, bytes], ...]:
    return tuple((path.stem, path.read_bytes()) for path in intents())


@cache
def site_files() -> dict[str, bytes]:
    """Override templates that shipped intents name."""
    home = ROOT / "intent"
    return {str(path.relative_to(home)): path.read_bytes() for path in sorted(home.glob("site/*"))}


def intent(dice: random.Random, small: bool = False) -> bytes:
    """One intent; `small` leaves out sites whose configs, checks or reports take more than seconds."""
    known = [text for name, text in shipped() if not small or name not in LARGE]
    if dice.random() < 0.08:
        return damage.damaged(dice, dice.choice(known), damage.YAML)
    data = _design(dice) if dice.random() < 0.4 else yaml.safe_load(dice.choice(known))
    for _ in range(dice.choice((0, 1, 1, 1, 1, 1, 1, 2, 2, 3))):
        dice.choice(MILD if small and dice.random() < 0.7 else CHANGES)(dice, data)
    if small:
        _shrink(data)
    text = _text(dice, data)
    return damage.damaged(dice, text, damage.YAML) if dice.random() < 0.04 else text


def _shrink(data: Any) -> None:
    for at in _mappings(data):
        for key in ("count", "servers", "planned"):
            if type(at.get(key)) is int and 64 < at[key] <= 10_000_000:
                at[key] = at[key] % 64 + 1


def _text(dice: random.Random, data: Any) -> bytes:
    width = dice.choice((80, 10_000))
    made: str = yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, default_flow_style=dice.choice((None, True, False)), width=width
    )
    return made.encode("utf-8", "surrogatepass")


class _Dumper(yaml.SafeDumper):
    """No aliases: a value that stands twice is written twice. Numbers too long for Python's own text are written as such."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _whole_number(dumper: _Dumper, data: int) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:int", str(data) if abs(data) < 10**4000 else "1" + "0" * 5000)


_Dumper.add_representer(int, _whole_number)


def _design(dice: random.Random) -> dict[str, Any]:
    """A design of a few lines that may well be buildable."""
    number = [dice.choice(NUMBERS[:22]) for _ in range(8)]
    topology: dict[str, Any] = {"kind": dice.choice(KINDS), "switch": dice.choice(SWITCHES)}
    some: dict[str, Callable[[], Any]] = {
        "unit": lambda: {"servers": number[0], **({"full": True} if dice.random() < 0.3 else {})},
        "tiers": lambda: dice.choice((2, 3, "auto")),
        "pods": lambda: {dice.choice(("count", "units", "racks")): number[1]},
        "planes": lambda: dice.choice((1, 2, 4, 8)),
        "planes_active": lambda: dice.choice((1, 2, 4)),
        "rails": lambda: dice.choice((1, 2, 4, 8)),
        "dual_tor": lambda: True,
        "leaf": lambda: value(whole()["$defs"]["Leaf"], dice),
        "spine": lambda: value(whole()["$defs"]["Spine"], dice),
        "core": lambda: value(whole()["$defs"]["Core"], dice),
        "attachments": lambda: [{"name": "ufm", "links": number[2]}],
        "patch_panels": lambda: dice.choice((5, {"leaf-spine": {"ports": number[3]}}, {"spine-core": {"ports": 48}})),
        "cable_length_m": lambda: dice.choice((5, {"server-leaf": number[3]}, {"spine-core": 100_000})),
    }
    for key, make in some.items():
        if dice.random() < 0.2:
            topology[key] = make()
    servers: Any = [_servers(dice, f"g{n}") for n in range(dice.choice((1, 1, 1, 2, 3)))]
    fabric: dict[str, Any] = {"servers": servers if len(servers) > 1 else servers[0], "topology": topology}
    for key, rate in {
        "nos": 0.5,
        "purpose": 0.4,
        "planned": 0.2,
        "names": 0.1,
        "overlay": 0.3,
        "tenants": 0.3,
        "qos": 0.2,
    }.items():
        if dice.random() < rate:
            fabric[key] = _key(dice, key, number)
    return {
        "version": 1,
        "site": "fz",
        "fabrics": dict.fromkeys(("backend", "storage")[: dice.choice((1, 1, 1, 2))], fabric),
    }


def _servers(dice: random.Random, name: str) -> dict[str, Any]:
    made = {"model": dice.choice(SERVERS), "name": name}
    group: dict[str, Any] = {**made, "count": dice.choice(NUMBERS[1:20])}
    if dice.random() < 0.3:
        group["per_rack"] = dice.choice((1, 2, 4, 8, 18))
    return group


def _key(dice: random.Random, key: str, number: list[int]) -> Any:
    if key == "nos":
        return dice.choice(SYSTEMS)
    if key == "purpose":
        return dice.choice(("compute", "storage", "frontend", "oob"))
    if key == "planned":
        return {"servers": dice.choice(NUMBERS), **({"uplinks": "recable"} if dice.random() < 0.5 else {})}
    if key == "overlay":
        return {"kind": dice.choice(("evpn-vxlan", "none"))}
    if key == "tenants":
        return [
            {"name": f"t{n}", **({"racks": [n + 1]} if dice.random() < 0.5 else {})} for n in range(dice.choice((1, 2, 3)))
        ]
    return value(whole()["$defs"][{"names": "Names", "qos": "Qos"}[key]], dice)


def _mappings(data: Any) -> Iterator[dict[str, Any]]:
    if isinstance(data, dict):
        yield data
        for child in data.values():
            yield from _mappings(child)
    elif isinstance(data, list):
        for child in data:
            yield from _mappings(child)


def _pick(dice: random.Random, data: Any, wanted: type | tuple[type, ...]) -> tuple[dict[str, Any], str] | None:
    """A mapping of the intent and one of its keys whose value is of a type."""
    able = [(m, key) for m in _mappings(data) for key, each in m.items() if isinstance(each, wanted)]
    return dice.choice(able) if able else None


def change_number(dice: random.Random, data: Any) -> None:
    if found := _pick(dice, data, int):
        at, key = found
        old = at[key]
        at[key] = dice.choice((*NUMBERS, *NUMBERS[1:], old * 2, old + 1, old - 1, old * 10, -old, dice.choice(ODD)))


def change_value(dice: random.Random, data: Any) -> None:
    """Another value of the same key, which the language mostly admits."""
    able = [(at, key, properties[key]) for at, properties in places(data, whole(), dice) for key in at if key in properties]
    if able:
        at, key, node = dice.choice(able)
        at[key] = value(node, dice, key)


def change_text(dice: random.Random, data: Any) -> None:
    if found := _pick(dice, data, str):
        found[0][found[1]] = dice.choice((*TEXTS, *SWITCHES, dice.choice(ODD)))


def change_type(dice: random.Random, data: Any) -> None:
    if found := _pick(dice, data, object):
        at, key = found
        at[key] = dice.choice(([at[key]], {"x": at[key]}, str(at[key])[:200], {key: at[key]}, dice.choice(ODD)))


def drop_key(dice: random.Random, data: Any) -> None:
    if found := _pick(dice, data, object):
        del found[0][found[1]]


def rename_key(dice: random.Random, data: Any) -> None:
    if found := _pick(dice, data, object):
        at, key = found
        at[dice.choice((str(key) + "x", str(key).upper(), *TEXTS))] = at.pop(key)


def move_key(dice: random.Random, data: Any) -> None:
    source, target = _pick(dice, data, object), _pick(dice, data, object)
    if source and target:
        target[0][source[1]] = copy.deepcopy(source[0][source[1]])
        if dice.random() < 0.5:
            source[0].pop(source[1])


def longer_list(dice: random.Random, data: Any) -> None:
    if found := _pick(dice, data, list):
        items = found[0][found[1]]
        items += copy.deepcopy(items) * dice.choice((1, 1, 2, 30))
        dice.shuffle(items)


def add_key(dice: random.Random, data: Any) -> None:
    """A key that the language has at this place, with a value that it mostly admits."""
    at, properties = dice.choice(list(places(data, whole(), dice)) or [(data, whole()["properties"])])
    key = dice.choice(sorted(properties))
    at[key] = value(properties[key], dice, key)


MILD = (change_number, change_value, add_key)  # after which there often is a design, so that commands have work
CHANGES = (*[change_number] * 4, *[change_value] * 5, *[add_key] * 8, longer_list, longer_list, change_text, change_type)
CHANGES += (drop_key, drop_key, rename_key, move_key)

ALL_COMMANDS = (  # of intents; x.yaml is the intent, y.yaml a second one
    *("plan x.yaml", "plan x.yaml --json", "plan x.yaml --against y.yaml", "plan y.yaml --against x.yaml", "check x.yaml"),
    *("check x.yaml --jobs 1 --json", "check x.yaml --jobs 1 --format sarif", "check x.yaml --jobs 1 --format junit"),
    *(
        "generate x.yaml --jobs 1",
        "generate x.yaml --diff --jobs 1",
        "generate x.yaml --check --jobs 1",
        "generate x.yaml y.yaml --jobs 1",
    ),
    *(
        "diff x.yaml y.yaml --jobs 1",
        "diff y.yaml x.yaml --jobs 1 --format markdown",
        "diff y.yaml x.yaml --jobs 1 --format json",
    ),
    *("estimate x.yaml", "estimate x.yaml --json --collective alltoall --size 64M", "capacity x.yaml --pairs 3"),
    *("estimate x.yaml --placement spread --fail backend-spine001", "estimate x.yaml --routing adaptive --gpus 16 --jobs 2"),
    *("bom x.yaml", "bom x.yaml --json --spares 50", "report x.yaml -o r.html", "report x.yaml -o r.html --no-load"),
    *("explain x.yaml", "explain x.yaml backend.spines", "explain x.yaml backend-leaf001", "explain x.yaml 10.0.0.1"),
    *("cabling list x.yaml", "cabling list x.yaml -o lists", "cabling labels x.yaml -o l.pdf", "cabling list x.yaml --json"),
    "explore x.yaml --jobs 1 --vary oversubscription=1,2 --vary kind=rack,rail-optimized",
    "explore x.yaml --jobs 1 --vary switch=sn5600,64x400g --format csv",
    *(f"export {form} x.yaml" for form in ("ansible", "containerlab", "drawio", "gnmi", "graphml", "graphviz", "mermaid")),
    *(f"export {form} x.yaml" for form in ("nautobot", "netbox", "slurm", "slurm-block", "slurm-yaml", "svg", "svg-racks")),
    *("export svg-plane x.yaml --plane 1", "export svg-rail x.yaml --rail 1"),
    *(f"export {form} x.yaml -o out" for form in ("anta", "collect", "kubernetes", "nccl", "prometheus", "prometheus-snmp")),
)


def planned(seed: int, number: int) -> Case:
    """`fabric plan` of one intent."""
    return Case("plan", number, ("plan", "x.yaml"), {**site_files(), "x.yaml": intent(rng("plan", seed, number))})


def everywhere(seed: int, number: int) -> Case:
    """One intent through one of the commands."""
    dice = rng("commands", seed, number)
    files = {
        **site_files(),
        "x.yaml": intent(dice, small=True),
        "y.yaml": dice.choice([text for name, text in shipped() if name not in LARGE]),
    }
    return Case("commands", number, tuple(dice.choice(ALL_COMMANDS).split()), files)
