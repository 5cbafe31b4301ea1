"""Values for keys of the intent, from the JSON Schema of the language: at its bounds, within them, and out of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from fabric.design.intent.load import schema

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        "",
        " ",
        0,
        -1,
        1,
        2,
        3,
        7,
        65,
        338630,
        10_000_000,
        10_000_001,
        2**31,
        2**63,
        2**64,
        10**30,
        10**5000,
    ),
    *(0.5, 1.5, -0.0, 1e308, 1e-308, float("nan"), float("inf"), [], {}, [[]], [1, 2], {"a": 1}, ["x", None], "x" * 300),
    *(
        "null",
        "ä",
        "名前",
        "\u202e",
        "a b",
        "../x",
        "{n}",
        "${HOME}",
        "10.0.0.0/8",
        "::/0",
        "\x00",
        "\ud7ff",
        "1e5",
        "*",
        "a\nb",
    ),
)
TEXTS = (
    *(
        "a",
        "x1",
        "leaf",
        "sn5600",
        "sn2201",
        "7050cx3-32s",
        "qfx5250",
        "qm9700",
        "64x400g",
        "1x1g",
        "1024x12800g",
        "dgx-h100",
    ),
    *("compute", "storage", "frontend", "oob", "gpu-0001..0005", "gpu-*", "red", "2x400", "8x100", "FAB182", "65000", "UTC"),
    *(
        "10.0.0.0/8",
        "10.0.0.0/30",
        "192.0.2.1",
        "fd00::/48",
        "2001:db8::1",
        "10.20.0.0/24",
        "10.20.0.1/24",
        "00:00:5e:00:01:01",
    ),
    *(
        "{site}-{fabric}-{role}{n:03}",
        "{role}{n}",
        "u{unit}-{n:02}",
        "{group}",
        "{rail}-{plane}",
        "r{rack}p{pod}",
        "eos",
        "sonic",
    ),
    *("5.15", "ADMIN_PASSWORD_HASH", "eos/device.j2", "x.j2", "gb300-nvl72", "auto", "none", "evpn-vxlan", "vrf-lite", "acl"),
)

SWITCHES = (
    "sn5600",
    "sn5600",
    "sn4700",
    "sn3700c",
    "7060x6-64pe",
    "7050cx3-32s",
    "qfx5130-32cd",
    "qfx5240-64od",
    "n9364e-sg2",
)
SWITCHES += ("qfx5250", "qm9700", "64x400g", "128x800g", "4x100g", "1024x800g", "sn2201")
SERVERS = ("dgx-h100", "dgx-h100", "dgx-a100", "dgx-b200", "dgx-b300", "gb300-tray", "hgx-b200", "cpu-2x25", "storage-2x200")
SYSTEMS = ("sonic", "eos", "nxos", "junos", "cumulus", "frr")
LIKELY: dict[str, tuple[Any, ...]] = {  # by key, whatever the schema says of text
    "switch": SWITCHES,
    "model": SERVERS,
    "nos": SYSTEMS,
    "gateway": ("10.20.0.0/24", "10.21.0.0/30", "10.20.0.1/16", "fd01::/64"),
    "ntp": ("192.0.2.10", "2001:db8::1"),
    "syslog": ("192.0.2.10", "2001:db8::1"),
    "timezone": ("UTC", "Europe/Berlin"),
    "version": (1,),
}


@cache
def whole() -> dict[str, Any]:
    return dict(schema())


def resolved(node: Any, dice: random.Random) -> dict[str, Any]:
    """Follows references, and takes one of the alternatives."""
    for _ in range(12):
        if "$ref" in node:
            node = whole()["$defs"][node["$ref"].rsplit("/", 1)[1]]
        elif "anyOf" in node or "oneOf" in node:
            node = dice.choice(node.get("anyOf") or node["oneOf"])
        elif len(node.get("allOf", ())) == 1:
            node = node["allOf"][0]
        else:
            break
    return dict(node)


def value(node: Any, dice: random.Random, key: str = "", depth: int = 0) -> Any:
    """A value that the schema admits, mostly."""
    if dice.random() < 0.01:
        return dice.choice(ODD)
    if key in LIKELY and dice.random() < 0.9:
        return dice.choice(LIKELY[key])
    node = resolved(node, dice)
    if "enum" in node:
        return dice.choice(node["enum"])
    if "const" in node:
        return node["const"]
    kind = node.get("type", "object" if "properties" in node else "string")
    if kind == "object":
        return _mapping(node, dice, depth)
    if kind == "array":
        return [value(node.get("items", {}), dice, key, depth + 1) for _ in range(dice.choice((0, 1, 1, 2, 3)))]
    if kind == "integer":
        return _whole_number(node, dice)
    if kind == "number":
        low, high = float(node.get("minimum", node.get("exclusiveMinimum", 0))), float(node.get("maximum", 1000))
        return dice.choice((low, high, (low + high) / 2, 1.0, 0.5, 2.5, 1 / 3, low + 1e-9))
    if kind == "boolean":
        return dice.random() < 0.5
    if kind == "null":
        return None
    return _text(node, dice)


def _whole_number(node: dict[str, Any], dice: random.Random) -> int:
    low = int(node.get("minimum", node.get("exclusiveMinimum", 0)))
    high = int(node.get("maximum", 10_000_000))
    inner = low + int((high - low) ** dice.random()) if high > low else low
    small = min(high, low + dice.randrange(12))
    if dice.random() < 0.03:
        return dice.choice((low - 1, high + 1))
    return dice.choice((low, high, low + 1, high - 1, inner, inner, inner, small, small, small))


def _text(node: dict[str, Any], dice: random.Random) -> str:
    fits = [text for text in TEXTS if _admits(node, text)]
    return dice.choice(fits) if fits and dice.random() < 0.9 else dice.choice(TEXTS)


def _admits(node: dict[str, Any], text: str) -> bool:
    return re.search(str(node.get("pattern", "")), text) is not None


def _mapping(node: dict[str, Any], dice: random.Random, depth: int) -> dict[str, Any]:
    properties = node.get("properties", {})
    needed = set(node.get("required", ()))
    rate = 0.25 if depth < 3 else 0.1
    made = {
        key: value(child, dice, key, depth + 1) for key, child in properties.items() if key in needed or dice.random() < rate
    }
    free = next(iter(node.get("patternProperties", {}).values()), node.get("additionalProperties"))
    if isinstance(free, dict):
        for _ in range(dice.choice((0, 1, 1, 2))):
            made[dice.choice(TEXTS)] = value(free, dice, "", depth + 1)
    return made


def places(data: Any, node: Any, dice: random.Random) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Every mapping of an intent with the schema of its keys."""
    node = resolved(node, dice)
    if isinstance(data, dict):
        properties = node.get("properties", {})
        if properties:
            yield data, properties
        free = next(iter(node.get("patternProperties", {}).values()), node.get("additionalProperties"))
        for key, child in data.items():
            below = properties.get(key, free)
            if isinstance(below, dict):
                yield from places(child, below, dice)
    elif isinstance(data, list):
        for child in data:
            yield from places(child, node.get("items", {}), dice)
