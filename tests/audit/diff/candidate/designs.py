"""Configs of random designs, and of the same designs after changes: the input of the pairs.

A design is planned and rendered once; all its switches are used. A changed design is the same intent with a few of the
changes that a site makes, numbers in use kept as `fabric generate` keeps them or not.
"""

from __future__ import annotations

import copy
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fabric import pipeline
from fabric.base.diagnostics import InputError
from tests.system.random_designs import drawing

Configs = dict[str, str]  # switch → its config
FILE = "startup-config"


def configs(nos: str, intent: dict[str, Any], files: dict[str, str] | None = None, file: str = FILE) -> Configs:
    """The configs of the switches with that network OS; none where the design cannot be built."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (files or {}).items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text, encoding="utf-8")
        path = Path(folder) / f"{intent['site']}.yaml"
        path.write_text(drawing.Design("", intent).text, encoding="utf-8")
        try:
            loaded = pipeline.load(path, Path(folder) / "generated")
            renderer = pipeline.render(pipeline.plan(loaded), loaded)
            jobs = [job for job in renderer.jobs(lambda _: True) if job.device.nos == nos]
            return {job.device.name: dict(renderer.files(job))[f"configs/{job.device.name}/{file}"].decode() for job in jobs}
        except InputError:
            return {}


def drawn(nos: str, seed: int, number: int) -> drawing.Design:
    """A random design of that network OS; the same in every run."""
    with patch.object(drawing, "SYSTEMS", (nos,)):
        return drawing.draw(seed, number)


def changed(rng: random.Random, intent: dict[str, Any]) -> dict[str, Any]:
    """The intent after one to four changes."""
    new = copy.deepcopy(intent)
    for change in rng.sample(CHANGES, rng.randint(1, 4)):
        change(rng, rng.choice(list(new["fabrics"].values())))
    return new


# --- changes, each of one fabric ----------------------------------------------------------------------------


def _tenants(fabric: dict[str, Any]) -> list[dict[str, Any]]:
    tenants = fabric.get("tenants") or []
    return [tenants] if isinstance(tenants, dict) else list(tenants)


def _vnis(rng: random.Random, fabric: dict[str, Any]) -> None:
    for at, tenant in enumerate(_tenants(fabric)):
        if rng.random() < 0.6:
            tenant["vni"] = 71_000 + rng.randint(0, 3) * 10 + at
        for n, network in enumerate(tenant.get("networks") or ()):
            network["vni"] = 91_000 + 100 * at + (n + rng.randint(0, 2)) % 3 + 10 * rng.randint(0, 1)


def _vlans(rng: random.Random, fabric: dict[str, Any]) -> None:
    for at, tenant in enumerate(_tenants(fabric)):
        for n, network in enumerate(tenant.get("networks") or ()):
            network["vlan"] = rng.choice((100 + 100 * at + (n + 1) % 3, 1500 + 10 * at + n))


def _gateways(rng: random.Random, fabric: dict[str, Any]) -> None:
    for at, tenant in enumerate(_tenants(fabric)):
        for n, network in enumerate(tenant.get("networks") or ()):
            if network.pop("gateway", None) is None or rng.random() < 0.5:
                network["gateway"] = f"172.{24 + at}.{n}.0/24"


def _without_leaks(fabric: dict[str, Any]) -> None:
    """Imports by prefix go before a tenant or a network does that they need."""
    for tenant in _tenants(fabric):
        imports = tenant.get("imports", ())
        if any(isinstance(item, dict) for item in ([imports] if isinstance(imports, dict) else imports)):
            del tenant["imports"]


def _networks(rng: random.Random, fabric: dict[str, Any]) -> None:
    _without_leaks(fabric)
    for at, tenant in enumerate(_tenants(fabric)):
        if tenant.get("networks") and rng.random() < 0.6:
            tenant["networks"].pop(rng.randrange(len(tenant["networks"])))
            if not tenant["networks"]:
                del tenant["networks"]
        elif rng.random() < 0.5:
            tenant.setdefault("networks", []).append({"name": "more", "vlan": 700 + at, "gateway": f"172.28.{at}.0/24"})


def _fewer_tenants(rng: random.Random, fabric: dict[str, Any]) -> None:
    _without_leaks(fabric)
    tenants = _tenants(fabric)
    if len(tenants) > 1:
        gone = tenants.pop(rng.randrange(len(tenants)))["name"]
        for tenant in tenants:
            if gone in tenant.get("imports", ()):
                del tenant["imports"]
        fabric["tenants"] = tenants
        fabric["topology"].pop("attachments", None)


def _renamed_tenant(rng: random.Random, fabric: dict[str, Any]) -> None:
    _without_leaks(fabric)
    for tenant in _tenants(fabric)[:1]:
        tenant["name"] = "violet"
        fabric["topology"].pop("attachments", None)


def _exchanged_tenants(rng: random.Random, fabric: dict[str, Any]) -> None:
    """Two tenants exchange their servers."""
    tenants = _tenants(fabric)
    if len(tenants) > 1 and all("servers" in tenant for tenant in tenants[:2]):
        tenants[0]["servers"], tenants[1]["servers"] = tenants[1]["servers"], tenants[0]["servers"]


def _no_tenants(rng: random.Random, fabric: dict[str, Any]) -> None:
    fabric.pop("tenants", None)
    fabric.pop("overlay", None)
    fabric["topology"].pop("attachments", None)


def _servers(rng: random.Random, fabric: dict[str, Any]) -> None:
    groups = fabric["servers"] if isinstance(fabric["servers"], list) else [fabric["servers"]]
    for group in groups:
        group["count"] = max(2, group["count"] + rng.choice((-4, -2, 2, 4, 8)))


def _pools(rng: random.Random, fabric: dict[str, Any]) -> None:
    block = rng.randint(200, 210)
    old = fabric.get("pools") or {}
    kinds = [kind for kind in ("loopback", "vtep", "p2p", "servers", "management") if ":" not in str(old.get(kind, ""))]
    for kind in rng.sample(kinds, min(2, len(kinds))):
        fabric.setdefault("pools", {})[kind] = f"10.{block}.{32 * kinds.index(kind)}.0/19"


def _qos(rng: random.Random, fabric: dict[str, Any]) -> None:
    qos = fabric.setdefault("qos", {})
    if not isinstance(qos, dict):
        return
    if rng.random() < 0.3:
        qos["enabled"] = not qos.get("enabled", True)
    else:
        qos["lossless_priority"] = rng.randint(1, 5)
        qos["lossless_dscp"] = rng.choice((24, 26, 30))


def _asns(rng: random.Random, fabric: dict[str, Any]) -> None:
    asn = fabric.setdefault("underlay", {}).setdefault("asn", {})
    asn["ranges"] = rng.choice(("4210000000-4210999999", ["64600-64999", "65100-65400"]))


def _attachments(rng: random.Random, fabric: dict[str, Any]) -> None:
    topology = fabric["topology"]
    if topology.pop("attachments", None) is None:
        topology["attachments"] = [{"name": "edge", "links": 2, "external": {"asn": 64_990}}]


def _addressing(rng: random.Random, fabric: dict[str, Any]) -> None:
    underlay = fabric.setdefault("underlay", {})
    underlay["addressing"] = "unnumbered" if underlay.get("addressing", "ipv4") == "ipv4" else "ipv4"


def _bfd(rng: random.Random, fabric: dict[str, Any]) -> None:
    underlay = fabric.setdefault("underlay", {})
    underlay["bfd"] = not underlay.get("bfd", True)


def _isolation(rng: random.Random, fabric: dict[str, Any]) -> None:
    fabric["overlay"] = rng.choice(({"kind": "evpn-vxlan"}, {"kind": "none", "isolation": "vrf-lite"}, {"isolation": "acl"}))
    for tenant in _tenants(fabric):
        tenant.pop("networks", None)
        tenant.pop("vni", None)


CHANGES: tuple[Callable[[random.Random, dict[str, Any]], None], ...] = (
    _vnis,
    _vlans,
    _gateways,
    _networks,
    _fewer_tenants,
    _renamed_tenant,
    _exchanged_tenants,
    _no_tenants,
    _servers,
    _pools,
    _qos,
    _asns,
    _attachments,
    _addressing,
    _bfd,
    _isolation,
)
