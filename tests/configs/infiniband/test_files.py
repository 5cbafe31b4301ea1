"""Files of subnet managers: what a reader that knows nothing of the templates finds in them, and GUIDs of an inventory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.configs.infiniband.discovered import read
from fabric.configs.infiniband.files import Managed, files, notes
from fabric.configs.infiniband.read_files import guid_list, partitions, settings
from fabric.configs.infiniband.topology import netlist
from fabric.model.plan.subnets import FULL
from tests.configs.infiniband.designs import DESIGNS, subnets, text


def texts(its: Managed) -> dict[str, str]:
    return {path.rpartition("/")[2]: data.decode() for path, data in files(its)}


def with_guids(tmp_path: Path, inventory: str, name: str = "two-tiers") -> Managed:
    """A design whose GUIDs are those of a file."""
    intent = tmp_path / "dc1.yaml"
    keyed = text(name).replace("topology: {switch: ib16", "infiniband: {guids: guids.txt}, topology: {switch: ib16", 1)
    intent.write_text(keyed)
    (tmp_path / "guids.txt").write_text(inventory)
    loaded = pipeline.load(intent)
    (its,) = pipeline.render(pipeline.plan(loaded), loaded).subnets
    return its


def real(its: Managed, named: bool = True, seed: int = 0x946DAE0300000000) -> str:
    """What ibnetdiscover prints where the nodes have GUIDs of a maker; unnamed switches all have one description."""
    made = netlist(its.subnet, its.guids)
    for at, guid in enumerate(its.guids.of):
        made = made.replace(f"{guid.node:016x}", f"{seed + 16 * at:016x}").replace(
            f"={guid.node:#x}", f"={seed + 16 * at:#x}"
        )
    if not named:
        made = re.sub(r'"backend-(leaf|spine)\d+"', '"Quantum Mellanox Technologies"', made)
    return made


@pytest.mark.parametrize("name", DESIGNS)
def test_every_file_of_every_design(name: str) -> None:
    """GUIDs differ, roots are the top tier, the lists have every adapter once, the topology has every cable."""
    prefixes = set()
    for its in subnets(name):
        made, subnet = texts(its), its.subnet
        guids = [guid for at in range(len(subnet.nodes)) for guid in its.guids.nodes(at)]
        assert len({guid.node for guid in guids}) == len(guids)
        prefixes.add(settings(made["opensm.conf"])["subnet_prefix"][0])
        roots = guid_list(made.get("root-guids.conf", ""))
        tops = {guid.node for at, node in enumerate(subnet.nodes) if node in subnet.top for guid in its.guids.nodes(at)}
        assert set(roots) == (tops if subnet.tiers > 1 else set())
        listed = [*guid_list(made.get("compute-guids.conf", "")), *guid_list(made.get("storage-guids.conf", ""))]
        assert sorted(listed) == sorted(its.guid(at).port for at, node in enumerate(subnet.nodes) if not node.switch)
        assert made["fabric.topo"].count("->") == len(subnet.cables)
        assert made["node-names.map"].count("\n") == len(guids)
        found = read(netlist(subnet, its.guids), "x")
        assert len(found.nodes) == len(subnet.nodes)
        assert len(found.peers) == 2 * len(subnet.cables)
    assert len(prefixes) == len(subnets(name))


def test_partitions_of_tenants() -> None:
    """Full and limited members, ports that serve, P_Keys and service levels, and lanes for these."""
    (its,) = subnets("tenants")
    made = texts(its)
    found = {entry.name: entry for entry in partitions(made["partitions.conf"])}
    assert {name: entry.key for name, entry in found.items()} == {
        "Default": 0x7FFF,
        "red": 1 | FULL,
        "blue": 0x100 | FULL,
        "store": 3 | FULL,
    }
    assert {member.kind for member in found["Default"].members if member.who == "ALL"} == {"limited"}
    kinds = {name: [member.kind for member in entry.members] for name, entry in found.items()}
    assert [kinds["red"].count("full"), kinds["blue"].count("full"), kinds["blue"].count("limited")] == [32, 8, 24]
    assert found["red"].flags["sl"] == "1"
    assert found["blue"].flags["sl"] == "0"
    keys = settings(made["opensm.conf"])
    assert keys["qos"][0] == "TRUE"
    assert keys["qos_max_vls"][0] == "4"
    assert keys["qos_sl2vl"][0] == "0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,3"


def test_without_tenants_all_ports_are_full_members() -> None:
    made = texts(subnets("two-tiers")[0])
    (default,) = partitions(made["partitions.conf"])
    assert {member.kind for member in default.members} == {"full"}
    assert settings(made["opensm.conf"])["qos"][0] == "FALSE"


def test_each_fabric_has_a_manager_of_its_own() -> None:
    """Compute and storage: no GUID of one is in a file of the other."""
    compute, storage = subnets("compute-and-storage")
    assert (compute.folder, storage.folder) == ("subnet-manager/backend", "subnet-manager/storage")
    one, other = ({guid.node for guid in its.guids.of} for its in (compute, storage))
    assert not one & other
    assert not any(f"{guid:#018x}" in made for guid in other for made in texts(compute).values())


def test_xdr_switches_are_a_node_for_each_chip() -> None:
    first, second = subnets("planes")
    assert [first.subnet.name, second.subnet.name] == ["backend-plane1", "backend-plane2"]
    assert all(len(first.guids.nodes(at)) == (4 if node.switch else 1) for at, node in enumerate(first.subnet.nodes))
    assert first.subnet.port_label(0, 3) == "sw2p1"


# --- GUIDs ----------------------------------------------------------------------------------------------------------


def test_placeholders_are_reported() -> None:
    (its,) = subnets("two-tiers")
    (line,) = notes([its])
    assert "76 of 76 GUIDs are placeholders" in line
    assert "placeholders" in texts(its)["opensm.conf"]


@pytest.mark.parametrize("named", [True, False])
def test_guids_by_name_and_by_place(tmp_path: Path, named: bool) -> None:
    """Switches that all have the name of the factory are identified by their cables."""
    (plain,) = subnets("two-tiers")
    its = with_guids(tmp_path, real(plain, named))
    assert its.guids.placeholders == 0
    assert [guid.node for guid in its.guids.of] == [0x946DAE0300000000 + 16 * at for at in range(len(its.guids.of))]
    assert "laceholder" not in "".join(texts(its).values())


def test_the_table_that_is_written_is_an_inventory(tmp_path: Path) -> None:
    """Lines of placeholders are not; a line with another GUID is taken."""
    (plain,) = subnets("two-tiers")
    table = texts(plain)["guids.csv"].replace("0x0200300001000000,0x0200300001000000,placeholder", "0xb0fd0b0300aa0001,,")
    its = with_guids(tmp_path, table)
    leaf = next(at for at, node in enumerate(its.subnet.nodes) if node.name == "backend-leaf001")
    assert its.guid(leaf).node == 0xB0FD0B0300AA0001
    assert its.guids.placeholders == len(its.guids.of) - 1


UFM = """[{{"guid": "{guid}", "systemID": "{guid}", "number": 1, "system_name": "{host}", "node_description": "{host} mlx5_0",
 "peer": "b0fd0b0300aa0001_1", "active_speed": "NDR", "active_width": "4x", "path": "default / Computer: {host}"}},
 {{"guid": "b0fd0b0300aa0001", "systemID": "b0fd0b0300aa0001", "number": 1, "system_name": "backend-leaf001",
 "node_description": "backend-leaf001:1/1", "peer": "{guid}_1", "path": "default / Switch: backend-leaf001 / 1"}}]"""


def test_ports_of_ufm(tmp_path: Path) -> None:
    its = with_guids(tmp_path, UFM.format(guid="946dae03000000aa", host="dgx-h100-0001"))
    known = {its.subnet.nodes[at].name: guid.node for at, guid in enumerate(its.guids.of) if guid.source == "inventory"}
    assert known == {"backend-leaf001": 0xB0FD0B0300AA0001, "dgx-h100-0001 mlx5_0": 0x946DAE03000000AA}


LINKINFO = """\
Switch: 0x0200300008000000 backend-leaf008:
          13    1[  ] ==( 4X   53.125 Gbps Active/  LinkUp)==>  69    1[  ] "x" ( )
"""
WRONG = {
    "device,port,node_guid\nbackend-leaf01,,0x1\n": "expected a device of the plan, got 'backend-leaf01'",
    "device,port,node_guid\nbackend-leaf001,,0xzz\n": "node_guid: expected 16 hexadecimal digits, got '0xzz'",
    "device,port,node_guid\nbackend-leaf001,,0x5\nbackend-leaf002,,0x5\n": "expected a GUID of its own for backend-leaf002",
    "hello\n": "got an unknown format",
    "": "got an empty file",
    LINKINFO: "expected the output of ibnetdiscover",
    'Switch\t64 "S-0c42a10300001000"\t# "other"\n[1]\t"H-946dae0300000000"[1]\t# "z mlx5_0"\n': "got none of 2 by name",
    '[{"guid": 5': "not JSON",
}


@pytest.mark.parametrize("inventory", WRONG)
def test_a_wrong_inventory_is_one_line(tmp_path: Path, inventory: str) -> None:
    with pytest.raises(InputError) as error:
        with_guids(tmp_path, inventory)
    assert WRONG[inventory] in str(error.value)


def test_a_missing_inventory_is_reported_at_its_key(tmp_path: Path) -> None:
    intent = tmp_path / "dc1.yaml"
    intent.write_text(
        text("two-tiers").replace("topology: {switch", "infiniband: {guids: nowhere.csv}, topology: {switch", 1)
    )
    loaded = pipeline.load(intent)
    with pytest.raises(InputError, match=r"dc1\.yaml:11:\d+: error\[FAB601\]: guids: nowhere\.csv"):
        pipeline.render(pipeline.plan(loaded), loaded)
