"""Views for the tests of SONiC: every kind and style, other class numbers, other chips."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fabric.configs.render import to_json
from fabric.model.plan import SwitchView
from fabric.nos.sonic.write.ports import board_of
from fabric.nos.sonic.write.switch import config_db
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, view

Db = dict[str, dict[str, Any]]

KINDS = {"qos": tuple(STYLES), "evpn": ("ipv4", "unnumbered"), "vrf-lite": ("ipv4",), "acl": tuple(STYLES)}
CHIPS = {"tomahawk5": "7060x6-64pe", "tomahawk4": "z9664f-on", "tofino2": "as9516-32d", "trident3": "own-switch"}


def db(made: SwitchView) -> Db:
    """config_db.json as it is written and read back."""
    loaded: Db = json.loads(to_json(config_db(made, board_of(made.model, made.device.model))))
    return loaded


def on_chip(made: SwitchView, asic: str) -> SwitchView:
    """The same fabric on a switch with another chip."""
    model = made.model.model_copy(update={"asic": asic})
    return replace(made, model=model, device=replace(made.device, model=CHIPS[asic]))


def with_qos(made: SwitchView, **changes: Any) -> SwitchView:
    assert made.qos is not None
    return replace(made, qos=replace(made.qos, **changes))


def cases() -> Iterator[tuple[str, SwitchView]]:
    for style in STYLES:
        for name in ("leaf1", "spine1"):
            yield f"plain-{style}-{name}", view(name, replace(STYLES[style], nos="sonic"))
    for kind, styles in KINDS.items():
        for style in styles:
            for name in ("leaf1", "leaf2", "spine1"):
                yield f"{kind}-{style}-{name}", rich(name, kind, "sonic", style)
    plain = rich("leaf1", "qos", "sonic")
    yield "static", with_qos(plain, buffer_model="static")
    yield "numbers", with_qos(plain, priority=4, dscp=24, cnp_priority=7, cnp_dscp=46)
    yield "first", with_qos(plain, priority=1, cnp_priority=2)
    yield "last", with_qos(plain, priority=7)
    yield "unwatched", with_qos(plain, watchdog=None)
    for asic in CHIPS:
        yield asic, on_chip(plain, asic)
        yield f"{asic}-numbers", on_chip(with_qos(plain, priority=4, dscp=24, cnp_priority=7, cnp_dscp=46), asic)


CASES = dict(cases())
