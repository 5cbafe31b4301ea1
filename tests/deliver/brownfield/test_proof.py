"""The proof of an import: what is equal, different, unplanned, not understood and missing, by topic, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.deliver.brownfield.proof import DIFFERENT, LABEL, LACKING, UNPLANNED, UNREAD, Proof, coverage, prove, topic_of
from fabric.nos.reading import scan

INTENT = """\
version: 1
site: site
fabrics:
  backend: {nos: eos, servers: {model: dgx-h100, count: 2}, topology: {switch: 7060x6-64pe, kind: rack, tiers: 1}}
"""
EDITS = {  # edit of a config → state, topic, message
    ("maximum-paths 64 ecmp 64", "maximum-paths 2 ecmp 2"): (
        DIFFERENT,
        "routing",
        "changed statement: expected `maximum-paths 64",
    ),
    ("hostname backend-leaf001\n", "hostname backend-leaf001\nip domain-name x\n"): (
        UNPLANNED,
        "management",
        "unplanned statement",
    ),
    ("hostname backend-leaf001\n", "hostname backend-leaf001\nflux capacitor on\n"): (UNREAD, "other", "unplanned statement"),
    ("   update wait-install\n", ""): (LACKING, "routing", "missing statement: `update wait-install`"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (folder / "site.yaml").write_text(INTENT, encoding="utf-8")
    intent = pipeline.load(folder / "site.yaml", folder / "generated")
    pipeline.generate(intent, jobs=1).write()
    return folder


def proof_of(site: Path, folder: Path, old: str, new: str) -> Proof:
    intent = pipeline.load(site / "site.yaml", site / "generated")
    text = (intent.folder / "configs" / "backend-leaf001" / "startup-config").read_text(encoding="utf-8")
    assert old in text
    (folder / "leaf.cfg").write_text(text.replace(old, new, 1), encoding="utf-8")
    return prove(pipeline.render(pipeline.plan(intent), intent), scan(folder), 1)


@pytest.mark.parametrize(("old", "new"), list(EDITS))
def test_a_difference_has_its_state_topic_and_place(old: str, new: str, site: Path, tmp_path: Path) -> None:
    proof = proof_of(site, tmp_path, old, new)
    state, topic, message = EDITS[old, new]
    ((found,),) = [device.residuals for device in proof.devices]
    assert (found.state, found.topic) == (state, topic)
    assert message in found.message
    assert found.place.startswith(f"{tmp_path / 'leaf.cfg'}")
    assert not proof.in_sync
    assert proof.count(state, topic=topic) == 1
    total = coverage(proof, proof)[-1]
    assert total.total - total.language == (0 if state == LACKING else 1)


def test_text_for_people_is_no_difference(site: Path, tmp_path: Path) -> None:
    proof = proof_of(site, tmp_path, "description router id", "description mine")
    assert proof.in_sync
    assert proof.count(LABEL) == 1


def test_a_switch_without_a_config_is_not_in_sync(site: Path, tmp_path: Path) -> None:
    proof = proof_of(site, tmp_path, "hostname backend-leaf001", "hostname other")
    (device,) = proof.devices
    assert (device.reason, proof.unplanned) == ("no config with this host name in the folder", ("other",))
    assert not proof.in_sync


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("interface Vxlan1 / vxlan vlan 10 vni 10010", "overlay"),
        ("interface Ethernet1 / description to the qos lab", "interfaces"),
        ("interface Ethernet1 / priority-flow-control on", "qos"),
        ("PORT / Ethernet0 / mtu = 9100", "interfaces"),
        ("aaa group server tacacs+ T", "login"),
        ("ntp server 192.0.2.1", "management"),
        ("ip prefix-list PL", "policy"),
        ("router bgp 65001 / neighbor 10.0.0.1 remote-as 65002", "routing"),
        ("vlan 10", "tenants"),
        ("flux capacitor", "other"),
    ],
)
def test_the_topic_of_a_statement(text: str, topic: str) -> None:
    assert topic_of(text) == topic
