"""Files of subnet managers that were edited: what is wrong is found at its line, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks import Finding, Scope
from tests.configs.infiniband.designs import plan, subnets, text

FOLDER = "subnet-manager/backend"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated site with tenants."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "dc1.yaml").write_text(text("tenants", "dc1"))
    pipeline.generate(pipeline.load(folder / "dc1.yaml")).write()
    return folder


def guid(name: str) -> str:
    (its,) = subnets("tenants")
    return next(f"{its.guid(at).port:#018x}" for at, node in enumerate(its.subnet.nodes) if node.name == name)


def findings(site: Path) -> list[Finding]:
    outcome = pipeline.check(Scope(files=(site / "dc1.yaml",)))
    return [finding for finding in outcome.verdict.findings if finding.severity == "error"]


def replaced(old: str, new: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        assert old in text, old
        return text.replace(old, new, 1)

    return edit


def without_line(word: str) -> Callable[[str], str]:
    return lambda text: "".join(line for line in text.splitlines(keepends=True) if word not in line)


RED, BLUE = guid("dgx-h100-0001 mlx5_0"), guid("dgx-h100-0004 mlx5_0")
LAST = guid("dgx-h100-0003 mlx5_11")
SPINE = f"{subnets('tenants')[0].guid(0).node:#018x}"
PLANTED: dict[str, tuple[str, Callable[[str], str], list[str]]] = {
    "wrong P_Key": (
        "partitions.conf",
        replaced("blue=0x8100", "blue=0x8001"),
        [
            "tenant 'blue': expected P_Key 0x0100, got 0x0001",
            "'red' and 'blue' have one P_Key, 0x0001: their ports reach each other",
        ],
    ),
    "port of another tenant": (
        "partitions.conf",
        replaced(f"  {RED},", f"  {BLUE},"),
        ["expected 1 more member: dgx-h100-0001 mlx5_0", "no port of tenant 'blue', got dgx-h100-0004 mlx5_0 as full member"],
    ),
    "all ports": (
        "partitions.conf",
        replaced(f"  {RED},", f"  {RED}, ALL,"),
        ["tenant 'red': expected GUIDs of ports, got ALL: ports of other tenants are members"],
    ),
    "full member of the default partition": (
        "partitions.conf",
        replaced("ALL=limited", "ALL=full"),
        ["default partition: expected ALL as limited member, got full: it reaches every tenant"],
    ),
    "full in place of limited": (
        "partitions.conf",
        replaced(f"{BLUE}=limited", f"{BLUE}=full"),
        ["tenant 'blue': expected dgx-h100-0004 mlx5_0 as limited member, got full"],
    ),
    "no partition": (
        "partitions.conf",
        lambda text: text[: text.index("# Tenant store")],
        ["tenant 'store': expected a partition with P_Key 0x0003, got none"],
    ),
    "service level": ("partitions.conf", replaced("sl=1", "sl=2"), ["tenant 'red': expected service level 1, got 2"]),
    "missing root": ("root-guids.conf", without_line(SPINE), ["expected 1 more root: backend-spine001"]),
    "leaf as root": (
        "root-guids.conf",
        lambda text: text + "0x0200300001000000\n",
        ["expected a switch of the top tier, got backend-leaf001"],
    ),
    "missing port": ("compute-guids.conf", without_line(LAST), ["expected 1 more port: dgx-h100-0003 mlx5_11"]),
    "engine": ("opensm.conf", replaced("ftree,updn", "ftre"), ["routing_engine: expected ftree,updn, got ftre"]),
    "no partitions": (
        "opensm.conf",
        without_line("partition_config_file"),
        ["partition_config_file: expected /etc/opensm/partitions.conf, got none"],
    ),
}


def test_nothing_on_generated_files(site: Path) -> None:
    assert findings(site) == []


@pytest.mark.parametrize("planted", PLANTED)
def test_planted(planted: str, site: Path) -> None:
    """Every message, its file, and no other error."""
    name, edit, expected = PLANTED[planted]
    path = site / "generated" / "dc1" / FOLDER / name
    before = path.read_text()
    path.write_text(edit(before))
    try:
        found = findings(site)
    finally:
        path.write_text(before)
    assert len(found) == len(expected)
    for words in expected:
        assert any(words in finding.message for finding in found), [finding.message for finding in found]
    assert all(finding.file.endswith(f"{FOLDER}/{name}") for finding in found)


# --- checks of the design --------------------------------------------------------------------------------------------


def designs(*replacements: tuple[str, str], name: str = "tenants") -> list[str]:
    from fabric.audit.checks.base import Design, run
    from fabric.audit.checks.design.base import FabricCheck

    made = plan(name, replacements)
    found = run(FabricCheck, Design(made, made.fabrics["backend"]))
    return [f"{finding.id} {finding.message}" for finding in found]


def test_engines_of_the_design() -> None:
    assert designs() == designs(name="three-tiers") == designs(name="one-switch") == []
    (one,) = designs(("topology: {switch: ib16", "infiniband: {routing: ftree}, topology: {switch: ib16"), name="one-switch")
    assert one.startswith("FAB246")
    assert "got fewer than two leaves with compute ports: minhop would be tried next" in one
    (static,) = designs(("topology:", "infiniband: {routing: updn}, topology:"), name="three-tiers")
    assert static.startswith("FAB246")
    assert "`updn` spreads three tiers unevenly" in static
    (unknown,) = designs(("topology:", "infiniband: {routing: dor}, topology:"), name="three-tiers")
    assert unknown.startswith("FAB245")
    assert "credit loops of `dor` are not computed" in unknown


def test_a_tenant_between_two_others() -> None:
    first, second = designs(
        ("{name: store, servers: dgx-h100-0007}", "{name: store, servers: dgx-h100-0007, partition: {served_by: red}}")
    )
    assert first.startswith("FAB247")
    assert "tenant 'red'" in first
    assert "it serves 'store', and 'store' serves it" in first
    assert second.startswith("FAB247")
    assert "it serves 'blue', and 'red' serves it" in second
