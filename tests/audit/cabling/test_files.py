"""Files as they come: of sessions, in wrappings, cut, of no use; and which device each is of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabric.audit.cabling.files import plain_id, read
from fabric.audit.cabling.outputs import outputs
from fabric.audit.cabling.planned import Hosts, canonical, is_management, is_nameless
from fabric.base.diagnostics import Diagnostic, InputError

HOSTS = Hosts(["leaf001", "leaf002", "leaf0011", "backend-leaf001", "spine.one"])
EOS = '{"lldpNeighbors": [{"port": "Ethernet1", "neighborDevice": "leaf002", "neighborPort": "Ethernet1"}]}'
TABLE = """\
LocalPort    RemoteDevice    RemotePortID    Capability    RemotePortDescr
-----------  --------------  --------------  ------------  -----------------
Ethernet0    leaf002         etp1            BR            x
"""


def devices(folder: Path, files: dict[str, str], stated: dict[str, str] | None = None) -> dict[str, int]:
    """Device → neighbors that its files tell of."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    reported = read([folder], {folder / file: device for file, device in (stated or {}).items()}, HOSTS)
    return {HOSTS.names[device]: len(switch.neighbors) for device, switch in reported.devices.items()}


def mistakes(folder: Path, files: dict[str, str], stated: dict[str, str] | None = None) -> tuple[Diagnostic, ...]:
    with pytest.raises(InputError) as caught:
        devices(folder, files, stated)
    return caught.value.diagnostics


@pytest.mark.parametrize(
    ("name", "device"),
    [
        *[("leaf001.json", "leaf001"), ("leaf001_lldp.txt", "leaf001"), ("show-lldp-leaf0011.json", "leaf0011")],
        *[("LEAF001.json", "leaf001"), ("backend-leaf001.json", "backend-leaf001"), ("leaf001.dc1.example.json", "leaf001")],
        *[
            ("leaf002/lldp.json", "leaf002"),
            ("leaf002/2026-08-01/lldp.json", "leaf002"),
            ("spine.one-lldp.json", "spine.one"),
        ],
    ],
)
def test_the_name_of_a_file_or_folder(name: str, device: str, tmp_path: Path) -> None:
    assert devices(tmp_path, {name: EOS}) == {device: 1}


@pytest.mark.parametrize(
    "text",
    [
        f"leaf001#show lldp neighbors | json\n{EOS}\nleaf001#\n",
        f"leaf001.dc1.example# show lldp neighbors | json\r\n{EOS}\r\n",
        f"admin@leaf001:~$ show lldp table\n{TABLE}admin@leaf001:~$ \n",
        f"{{master:0}}\nadmin@leaf001> show lldp neighbors | display json \n{EOS}\n",
        json.dumps({"jsonrpc": "2.0", "result": [{"hostname": "leaf001", "fqdn": "leaf001.x"}, json.loads(EOS)]}),
        json.dumps({"leaf001": {"stdout": [json.loads(EOS)]}}),
        json.dumps({"LLDP_LOC_CHASSIS": {"value": {"lldp_loc_sys_name": "leaf001"}}, "LLDP_ENTRY_TABLE:Ethernet0": {}}),
        '{"local-chassis": {"chassis": {"leaf001": {"id": {"type": "mac", "value": "x"}}}}}\n{"lldp": {}}\n',
        "\ufeff" + f"leaf001#show lldp neighbors | json\n{EOS}\n",
    ],
)
def test_what_a_file_says_of_its_device_goes_before_its_name(text: str, tmp_path: Path) -> None:
    assert list(devices(tmp_path, {"leaf002.txt": text})) == ["leaf001"]


def test_one_file_of_many_devices(tmp_path: Path) -> None:
    """As Ansible gathers them."""
    text = json.dumps({"leaf001": {"stdout": [json.loads(EOS)]}, "leaf002": {"stdout": [json.loads(EOS)]}})
    assert devices(tmp_path, {"all.json": text}) == {"leaf001": 1, "leaf002": 1}


def test_several_files_of_a_device(tmp_path: Path) -> None:
    assert devices(tmp_path, {"leaf001.json": EOS, "leaf001-2.json": EOS}) == {"leaf001": 2}


def test_the_caller_says_it(tmp_path: Path) -> None:
    assert devices(tmp_path, {"x.json": EOS}, {"x.json": "leaf0011"}) == {"leaf0011": 1}


def test_no_one_says_it(tmp_path: Path) -> None:
    (item,) = mistakes(tmp_path, {"x.json": EOS})
    assert item.message == "neither the content nor the file name identifies the device"
    assert "--device NAME=FILE" in item.hint


def test_the_name_says_two(tmp_path: Path) -> None:
    (item,) = mistakes(tmp_path, {"leaf001-to-leaf002.json": EOS})
    assert item.message == "the file name matches several devices: leaf001 and leaf002"


def test_a_device_that_the_plan_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_text(f"leaf01#show lldp neighbors | json\n{EOS}\n")
    (tmp_path / "leaf002.json").write_text(EOS)
    reported = read([tmp_path], {}, HOSTS)
    (item,) = reported.unknown
    assert (len(reported.devices), item.severity) == (1, "warning")
    assert (item.message, item.hint) == (
        "ignored: belongs to 'leaf01', which is not in the plan",
        "did you mean 'leaf001'?",
    )


def test_files_of_another_site_alone(tmp_path: Path) -> None:
    """Nothing is compared: that must not read as nothing is wrong."""
    session = f"other01#show lldp neighbors | json\n{EOS}\n"
    (item,) = mistakes(tmp_path, {"a.txt": session, "b.txt": session})
    assert (
        item.message
        == "no file matches a device of this plan; the first ignored: belongs to 'other01', which is not in the plan"
    )


def test_a_wrong_device_named_by_the_caller(tmp_path: Path) -> None:
    (item,) = mistakes(tmp_path, {"x.json": EOS}, {"x.json": "leaf03"})
    assert (item.code, item.message) == ("FAB163", "--device: 'leaf03' is not a device of the plan")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", ":1:1", "expected LLDP neighbor output of a device, got an empty file"),
        ("hello\n", ":1:1", "expected LLDP neighbor output of a device, got an unknown format"),
        ("[]", ":1:1", "expected LLDP neighbor output of a device, got an unknown format"),
        ('{"a": 1}', ":1:1", "expected LLDP neighbor output of a device, got an unknown format"),
        ('{\n  "lldpNeighbors": [\n    {"port" "x"}', ":3:13", "not JSON: expecting ':' delimiter"),
        (f"leaf001#show\n{EOS[:-3]}", ":2:98", "not JSON: expecting ',' delimiter"),
        ("[" * 100_000, ":1:1", "not the output of a device: nested too deep"),
        ('{"a": ' + "9" * 5000 + "}", ":1:1", "not the output of a device: a number has too many digits"),
    ],
)
def test_garbage(text: str, place: str, message: str, tmp_path: Path) -> None:
    (item,) = mistakes(tmp_path, {"leaf001.json": text})
    assert (str(item.place).removeprefix(str(tmp_path / "leaf001.json")), item.message) == (place, message)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "leaf001.json").write_bytes(b'{"lldp": \xff}')
    (item,) = mistakes(tmp_path, {})
    assert str(item.place).endswith(":1:10")


def test_all_mistakes_together(tmp_path: Path) -> None:
    found = mistakes(tmp_path, {"leaf001.json": "{", "leaf002.json": "x", "y.json": EOS})
    assert len(found) == 3


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read([tmp_path / "none.json", tmp_path], {}, HOSTS)
    assert [item.message for item in caught.value.diagnostics] == [
        "expected LLDP neighbor output of a device, got a folder without files",
        "cannot be read: no such file or directory",
    ]


def test_a_format_that_is_named_is_the_only_one() -> None:
    with pytest.raises(InputError) as caught:
        outputs(EOS, "x.json", "nxos")
    assert caught.value.diagnostics[0].message == "expected an output of nxos, got an unknown format"


@pytest.mark.parametrize(
    ("names", "spelled"),
    [
        (("Ethernet1/1", "Eth1/1", "Et1/1", "ethernet 1/1", '"Ethernet1/1"', "ETHERNET1/1"), "ethernet1/1"),
        (("Et48", "Ethernet48"), "ethernet48"),
        (("et-0/0/1:0", "et-0/0/1:0.0"), "et-0/0/1:0"),
        (("swp1s0", "SWP1s0"), "swp1s0"),
    ],
)
def test_one_spelling(names: tuple[str, ...], spelled: str) -> None:
    assert {canonical(name) for name in names} == {spelled}


def test_ports_beside_the_fabric_and_names_that_say_nothing() -> None:
    assert all(map(is_management, ("eth0", "mgmt0", "Management1", "Ma1", "fxp0", "em0", "re0:mgmt-0", "vme")))
    assert not any(map(is_management, ("Ethernet0", "Eth1/1", "swp1", "et-0/0/0", "enp24s0np0", "compute1", "etp1")))
    assert all(map(is_nameless, ("", "541", "00:1c:73:7f:b4:d9", "001c.737f.b4d9", "00-1C-73-7F-B4-D9")))
    assert not any(map(is_nameless, ("Ethernet0", "1/1/50", "swp1")))
    assert plain_id("001C.737f.b4d9") == plain_id("00:1c:73:7f:b4:d9") == "001c737fb4d9"


def test_a_table_whose_names_do_not_stand_over_its_columns(tmp_path: Path) -> None:
    """A head that was edited or wrapped: nothing is guessed from it."""
    found = mistakes(tmp_path, {"leaf001.txt": TABLE.replace("LocalPort    ", "LocalPort ")})
    assert "an unknown format" in found[0].message
