"""A class of storage NICs beside that of RoCE: which ports pause which priority, in the files of switches and servers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks.site import judge
from fabric.base.diagnostics import InputError
from fabric.model.facts import Facts, PortQos
from fabric.model.plan import LEAF, SwitchView
from fabric.nos.reading import read_device

SITE = """\
version: 1
site: dc1
catalog:
  servers:
    gpu: {gpus: 4, nics: {compute: {count: 4, speed_gbps: 100}, frontend: {count: 1, ports: 2, speed_gbps: 100}}}
    store: {gpus: 0, nics: {storage: {count: 1, ports: 2, speed_gbps: 100}}}
fabrics:
  core:
    nos: NOS
    servers:
      - {model: gpu, count: 2, nics: [compute, frontend], homing: {compute: single}}
      - {model: store, count: 4, nics: storage}
    topology: {kind: collapsed, switch: SWITCH, unit: {servers: 2}, leaf: {uplinks: {count: 4}}LENGTH}
    qos: {storage: STORAGE}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: gpu, nics: compute, networks: [{name: gpu, vlan: 900}]}
      - {name: inband, nics: frontend, networks: [{name: inband, vlan: 400}]}
      - {name: storage, nics: storage, networks: [{name: storage, vlan: 500}]}
"""
SYSTEMS = {"cumulus": "sn3700", "eos": "7050cx3-32s", "sonic": "sn4600c"}
LOSSLESS, LOSSY = "{priority: 4, dscp: 34, percent: 20}", "{percent: 30, lossless: false}"


def text(nos: str, storage: str, length: str = "") -> str:
    return SITE.replace("NOS", nos).replace("SWITCH", SYSTEMS[nos]).replace("STORAGE", storage).replace("LENGTH", length)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("storage")


@cache
def rendered(folder: Path, nos: str, storage: str) -> list[tuple[SwitchView, dict[str, str]]]:
    """Every leaf, and its files."""
    file = folder / f"{nos}.yaml"
    file.write_text(text(nos, storage))
    intent = pipeline.load(file)
    renderer = pipeline.render(pipeline.plan(intent), intent)
    found = []
    for job in renderer.jobs(lambda name: "leaf" in name):
        view = renderer.views[job.fabric].of(job.device)
        found.append((view, {path.rpartition("/")[2]: data.decode() for path, data in renderer.files(job)}))
    return found


def classes(view: SwitchView, facts: Facts) -> dict[str, PortQos | None]:
    """Purpose of a port → its classes, of the port or its bond."""
    found: dict[str, PortQos | None] = {}
    for interface in facts.interfaces.values():
        words = interface.description.value.split() if interface.description else []
        bond = facts.interfaces.get(interface.bond.value) if interface.bond else None
        kind = re.sub("[0-9].*", "", words[1]) if len(words) > 1 and words[0].startswith(("gpu-", "store-")) else ""
        kind = "fabric" if words and words[0].startswith("core-leaf") else kind
        if kind and (qos := interface.qos or (bond and bond.qos)):
            found[kind] = qos
    return found


@pytest.mark.parametrize("nos", SYSTEMS)
@pytest.mark.parametrize(("storage", "paused"), [(LOSSLESS, {4}), (LOSSY, set())], ids=["lossless", "lossy"])
def test_each_port_pauses_the_priorities_of_its_classes(folder: Path, nos: str, storage: str, paused: set[int]) -> None:
    for view, files in rendered(folder, nos, storage):
        facts = read_device(view.device.name, nos, files)
        assert [finding for finding in judge(view, facts, facts.texts) if finding.severity == "error"] == []
        assert facts.unread == []
        found = {kind: {item.value for item in qos.pfc} for kind, qos in classes(view, facts).items() if qos}
        assert found["compute"] == {3}
        assert found["fabric"] == {3} | paused
        assert found.get("storage", set()) == paused
        assert found.get("frontend", set()) == set()
        fabric = classes(view, facts)["fabric"]
        assert fabric is not None
        assert fabric.priorities[34].value == 4
        assert (4 in fabric.ecn) == bool(paused)


CHANGED = {
    "cumulus": ("bw-percent: 20\\n", "bw-percent: 5\\n"),
    "eos": ("bandwidth percent 20\\n", "bandwidth percent 5\\n"),
    "sonic": ('"weight": "20"', '"weight": "5"'),
}


@pytest.mark.parametrize("nos", SYSTEMS)
def test_another_weight_is_found(folder: Path, nos: str) -> None:
    view, files = rendered(folder, nos, LOSSLESS)[0]
    old, new = CHANGED[nos]
    changed = {name: re.sub(old, new, found) for name, found in files.items()}
    assert changed != files
    facts = read_device(view.device.name, nos, changed)
    assert any(
        "weight of the storage class" in finding.message or "weight" in finding.message
        for finding in judge(view, facts, facts.texts)
    )


def test_headroom_of_both_priorities_is_counted(tmp_path: Path) -> None:
    def reserved(storage: str) -> tuple[int, int]:
        file = tmp_path / "site.yaml"
        file.write_text(text("sonic", storage) if storage else text("sonic", "{}").replace("    qos: {storage: {}}\n", ""))
        lossless = pipeline.plan(pipeline.load(file)).fabrics["core"].lossless
        assert lossless is not None
        entry = lossless.of(LEAF, "gpu")
        return sum(entry.counts.values()), entry.qos.buffer.reserved_bytes

    plain, own, lossy = reserved(""), reserved(LOSSLESS), reserved(LOSSY)
    assert own[0] == plain[0] + 4  # four links to the other leaf, twice
    assert lossy[0] == plain[0] - 4  # without the four storage ports of a leaf
    assert lossy[1] < plain[1] < own[1]


def test_headroom_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(text("sonic", LOSSLESS, ", cable_length_m: {leaf-leaf: 100000}"))
    with pytest.raises(InputError, match=r"FAB145.*8 priority groups of ports of 100G at 100000 m") as error:
        pipeline.plan(pipeline.load(file))
    assert "`storage: {lossless: false}`" in str(error.value)


def test_a_fabric_without_storage_beside_others_has_no_such_class(tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(re.sub(r"\n.*store, count.*|\n.*name: storage, nics.*", "", text("sonic", LOSSLESS)))
    with pytest.raises(InputError, match="expected storage NICs beside others"):
        pipeline.plan(pipeline.load(file))
