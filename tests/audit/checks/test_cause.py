"""One finding per cause: a copy, a foreign file, a file that is cut off, a statement that much depends on."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from fabric import pipeline
from fabric.audit.checks import ERROR, NOTE, WARNING, Finding, incomplete_files, omitted, statements
from fabric.audit.checks.run import Scope, check_folder, run
from fabric.nos.reading import scan
from tests import ROOT

EOS = ROOT / "generated/ai-eos/configs"
LEAF3, LEAF4 = "backend-leaf003", "backend-leaf004"


def copied(folder: Path, changes: Mapping[str, str]) -> Path:
    """The EOS configs of the back-end network, some of them replaced, in one folder."""
    folder.mkdir()
    for own in sorted(EOS.glob("backend-*")):
        text = (own / "startup-config").read_text()
        (folder / f"{own.name}.cfg").write_text(changes.get(own.name, text))
    return folder


def config(name: str) -> str:
    return (EOS / name / "startup-config").read_text()


def with_plan(folder: Path) -> list[Finding]:
    """What is found in a folder with the intent; switches of the other networks are not in it."""
    intent = pipeline.load(ROOT / "intent/ai-eos.yaml")
    ready = pipeline.render(pipeline.plan(intent), intent)
    found = run(Scope(files=(Path("intent"),), configs=folder, jobs=1), scan(folder), [ready], [], "error").verdict.findings
    return [one for one in found if one.severity != NOTE and not one.device.startswith(("frontend", "storage"))]


def without_plan(folder: Path) -> list[Finding]:
    return check_folder(scan(folder)).findings


def rows(found: list[Finding]) -> list[tuple[str, str, int, str]]:
    return sorted((one.id, Path(one.file).name, one.line, one.message) for one in found)


# --- a copy -----------------------------------------------------------------------------------------------------


def test_a_copy_is_one_error_with_the_plan(tmp_path: Path) -> None:
    folder = copied(tmp_path / "configs", {LEAF4: config(LEAF3)})
    message = "the config of backend-leaf004 has the host name of another device: backend-leaf003"
    assert rows(with_plan(folder)) == [("FAB250", "backend-leaf004.cfg", 7, message)]


def test_the_original_is_judged_where_the_copy_is_read_first(tmp_path: Path) -> None:
    folder = copied(tmp_path / "configs", {LEAF3: config(LEAF4)})
    message = "the config of backend-leaf003 has the host name of another device: backend-leaf004"
    assert rows(with_plan(folder)) == [("FAB250", "backend-leaf003.cfg", 7, message)]


def test_a_copy_is_one_error_and_one_note_without_a_plan(tmp_path: Path) -> None:
    folder = copied(tmp_path / "configs", {LEAF4: config(LEAF3)})
    assert rows(without_plan(folder)) == [
        (
            "FAB250",
            "backend-leaf004.cfg",
            7,
            "the config of backend-leaf004 has the host name of backend-leaf003; its own is not in the files",
        ),
        (
            "FAB256",
            "backend-spine001.cfg",
            463,
            "neighbor 10.64.0.48: address not assigned to any device in the files; 9 more sessions of 2 devices with the "
            "same AS",
        ),
    ]


def test_two_files_of_one_device_are_no_copy(tmp_path: Path) -> None:
    """An old file beside the present one: its name is no name of a device of the role."""
    folder = copied(tmp_path / "configs", {})
    (folder / f"{LEAF3}-old.cfg").write_text(config(LEAF3))
    (found,) = [one for one in without_plan(folder) if one.severity != NOTE]
    assert (found.id, found.message.partition(",")[0]) == (
        "FAB250",
        "host name backend-leaf003 is in the configs of 2 devices",
    )


# --- a foreign file among those of a device ---------------------------------------------------------------------

FRR = "frr defaults datacenter\nhostname {}\n"
NAMES = {  # host names of zebra.conf, bgpd.conf, isisd.conf → files that have another device's
    ("r1", "r1", "r1"): [],
    ("r1", "r1.example.com", "R1"): [],
    ("r1", "r1", "r2"): [("isisd.conf", 2, "the file has the host name of another device: r2")],
    ("r1", "r2", "r1"): [("bgpd.conf", 2, "the file has the host name of another device: r2")],
    ("r1", "bgpd", "r1"): [("bgpd.conf", 2, "host name bgpd in a file of r1")],
    ("r1", "bgpd\nhostname r1", "r1"): [],
}


@pytest.mark.parametrize("names", NAMES, ids="-".join)
def test_a_daemon_of_another_device(names: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    for daemon, name in zip(("zebra", "bgpd", "isisd"), names, strict=True):
        (tmp_path / f"r1/{daemon}.conf").write_text(FRR.format(name))
    found = [one for one in without_plan(tmp_path) if one.id == "FAB250"]
    assert [(Path(one.file).name, one.line, one.message) for one in found] == NAMES[names]
    assert {one.severity for one in found} <= {NOTE if "bgpd" in names else WARNING}


def test_the_routing_of_another_device(tmp_path: Path) -> None:
    (tmp_path / "r1").mkdir()
    for daemon, name in {"bgpd": "r2\nrouter bgp 1", "isisd": "r1", "zebra": "r1"}.items():
        (tmp_path / f"r1/{daemon}.conf").write_text(FRR.format(name))
    assert [one.severity for one in without_plan(tmp_path) if one.id == "FAB250"] == [ERROR]


# --- a file that is cut off -------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [20, 50, 80, 95])
def test_a_cut_file_is_one_error_with_the_plan(share: int, tmp_path: Path) -> None:
    whole = config(LEAF3)
    text = whole[: len(whole) * share // 100]
    (found,) = with_plan(copied(tmp_path / "configs", {LEAF3: text}))
    last = len(text.rstrip().splitlines())
    assert (found.id, Path(found.file).name, found.line) == ("FAB290", f"{LEAF3}.cfg", last)
    assert found.message.startswith(f"the file ends at line {last}; ")


def test_what_is_wrong_in_front_of_the_end_is_found(tmp_path: Path) -> None:
    text = config(LEAF3)
    text = text[: len(text) // 2].replace("   mtu 9164", "   mtu 1500", 1)
    assert text.count("mtu 1500") == 1
    line = text.splitlines().index("   mtu 1500") + 1
    found = rows(with_plan(copied(tmp_path / "configs", {LEAF3: text})))
    assert [(code, at) for code, _, at, _ in found if code != "FAB290"] == [("FAB254", line)]
    assert [code for code, *_ in found].count("FAB290") == 1


def test_a_few_statements_missing_at_the_end_are_named(tmp_path: Path) -> None:
    lines = config(LEAF3).splitlines()
    found = with_plan(copied(tmp_path / "configs", {LEAF3: "\n".join(lines[:-8]) + "\n"}))
    assert found
    assert "FAB290" not in {one.id for one in found}


JSON = """\
{"DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "bgp_asn": "65001", "type": "LeafRouter"}},
"INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.1/31": {}},
"PORT": {"Ethernet0": {"description": "spine1 Ethernet1", "admin_status": "up", "lanes": "0", "speed": "10000"}}}
"""
SPINE = """\
hostname spine1
interface Ethernet1
   description leaf1 Ethernet0
   no switchport
   ip address 10.0.0.0/31
"""


@pytest.mark.parametrize("cut", [False, True])
def test_the_other_ends_of_a_cut_file_are_not_blamed(cut: bool, tmp_path: Path) -> None:
    """The address of the leaf may be behind the end; where the file is whole and lacks it, the spine's is reported."""
    lines = JSON.splitlines(keepends=True)
    text = lines[0] + '"INTERFACE": {"Ethernet0": {}' if cut else lines[0] + lines[2]
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1/config_db.json").write_text(text)
    (tmp_path / "spine1.cfg").write_text(SPINE)
    found = [one for one in without_plan(tmp_path) if one.severity == "error"]
    assert [(one.id, one.device) for one in found] == [("FAB290", "leaf1") if cut else ("FAB253", "spine1")]


PART = """\
vlan 10
interface Vxlan1
   vxlan source-interface Loopback0
   vxlan vlan 10 vni 10010
router bgp 65001
   neighbor 10.1.1.0 route-map RM out
   address-family evpn
      neighbor 10.1.1.0 activate
"""


@pytest.mark.parametrize("head", ["", "hostname leaf1\n"])
def test_what_a_part_of_a_config_lacks_is_not_judged(head: str, tmp_path: Path) -> None:
    (tmp_path / "leaf1.cfg").write_text(head + PART)
    found = {one.id for one in without_plan(tmp_path) if one.severity == "error"}
    assert found == ({"FAB255", "FAB267", "FAB281", "FAB2501", "FAB2550"} if head else set())


# --- a statement that much depends on ---------------------------------------------------------------------------


def test_a_neighbor_without_its_group_is_one_error(tmp_path: Path) -> None:
    """Timers, BFD, families and filters of the session come with the group."""
    lines = config("backend-leaf001").splitlines()
    lines.remove("   neighbor 10.64.0.1 peer group FABRIC")
    found = rows(with_plan(copied(tmp_path / "configs", {"backend-leaf001": "\n".join(lines) + "\n"})))
    assert [(code, message) for code, _, _, message in found] == [
        ("FAB295", "missing statement: `neighbor 10.64.0.1 peer group FABRIC`")
    ]


def test_another_fault_of_the_same_neighbor_is_reported_by_its_statement(tmp_path: Path) -> None:
    lines = config("backend-leaf001").splitlines()
    for line in ("   neighbor 10.64.0.1 peer group FABRIC", "   neighbor 10.64.0.1 remote-as 4200000000"):
        lines.remove(line)
    found = rows(with_plan(copied(tmp_path / "configs", {"backend-leaf001": "\n".join(lines) + "\n"})))
    assert any("remote-as" in message or "remote AS" in message for *_, message in found)
    assert any("peer group FABRIC" in message for *_, message in found)


ONE_CAUSE = {  # device, text of its config, another one → id, line that is meant, message
    "a misspelled statement": (
        (LEAF3, "aaa authorization exec default local", "aaa authorisation exec default local"),
        ("FAB295", "aaa authorisation exec", "changed statement: expected `aaa authorization exec default local`"),
    ),
    "a misspelled section": (
        (LEAF3, "route-map RM-FABRIC-IN permit 10\n", "route-map RM-FABRIC-IN permti 10\n"),
        ("FAB295", "route-map RM-FABRIC-IN permti", "changed statement: expected `route-map RM-FABRIC-IN permit 10`"),
    ),
    "a spare port that is not shut": (
        (LEAF3, "Ethernet9/1\n   description spare\n   shutdown\n", "Ethernet9/1\n   description spare\n"),
        ("FAB295", "interface Ethernet9/1", "missing statement: `shutdown`"),
    ),
    "a setting that ports share": (
        (LEAF3, "   priority-flow-control priority 3 no-drop\n", ""),
        ("FAB295", "qos profile", "missing statement: `priority-flow-control priority 3 no-drop`"),
    ),
}


@pytest.mark.parametrize("case", ONE_CAUSE)
def test_one_edit_is_one_finding(case: str, tmp_path: Path) -> None:
    (device, old, new), (code, line, message) = ONE_CAUSE[case]
    assert config(device).count(old) == 1
    text = config(device).replace(old, new)
    (found,) = rows(with_plan(copied(tmp_path / "configs", {device: text})))
    assert (found[0], found[3]) == (code, message)
    assert text.splitlines()[found[2] - 1].startswith(line)


def test_another_value_in_a_misspelled_statement_is_not_lost(tmp_path: Path) -> None:
    """Two statements of one section with other words each are two findings."""
    text = config(LEAF3).replace("aaa authorization exec default local", "aaa accounting exec default none")
    found = rows(with_plan(copied(tmp_path / "configs", {LEAF3: text})))
    assert [message for *_, message in found] == [
        "missing statement: `aaa authorization exec default local`",
        "unplanned statement",
    ]


def test_a_finding_says_what_it_is_about(tmp_path: Path) -> None:
    text = (
        config("backend-leaf001").replace("   neighbor 10.64.0.1 peer group FABRIC\n", "").replace("mtu 9164", "mtu 1500", 1)
    )
    found = with_plan(copied(tmp_path / "configs", {"backend-leaf001": text}))
    (statement,) = [one.about for one in found if one.id == "FAB295"]
    assert (statement.absent, statement.statement) == (True, "neighbor 10.64.0.1 peer group FABRIC")
    (mtu,) = [one.about for one in found if one.id == "FAB254"]
    assert (mtu.subjects[0].kind, mtu.fact, mtu.got, mtu.absent) == ("", "mtu", "1500", False)


def test_a_local_address_that_does_not_exist_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "leaf1.cfg").write_text(
        "hostname leaf1\ninterface Ethernet1\n   ip address 10.0.0.1/31\nrouter bgp 65001\n"
        "   neighbor 10.0.0.0 remote-as 65100\n   neighbor 10.0.0.0 update-source Loopback9\n"
        "ip route vrf red 0.0.0.0/0 10.0.0.0\n"
    )
    found = check_folder(scan(tmp_path)).findings
    assert [(one.id, one.line) for one in found if one.severity == "error"] == [("FAB257", 6), ("FAB281", 7)]


@pytest.mark.parametrize("code", [omitted.follows, omitted.explaining, incomplete_files, statements])
def test_what_follows_is_not_read_from_messages(code: ModuleType | FunctionType) -> None:
    assert ".message" not in inspect.getsource(code)
