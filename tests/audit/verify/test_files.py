"""A folder of state in its layouts, and files that are damaged, of other devices, or of nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabric.audit.verify.files import Collected, read
from fabric.base.diagnostics import InputError
from tests.audit.verify.test_readers import EOS_PEERS, EOS_ROUTES, FRR_PEERS, FRR_ROUTES

NAMES = ["leaf001", "leaf002", "spine001"]


def collected(folder: Path, files: dict[str, str]) -> Collected:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return read(folder, NAMES)


PEERS, ROUTES = json.dumps(EOS_PEERS), json.dumps(EOS_ROUTES)
SESSION = f"leaf002#show bgp summary vrf all | json\n{PEERS}\nleaf002#show ip route vrf all | json\n{ROUTES}\n"
LAYOUTS = {
    "a folder per switch": ({"leaf002/a.json": PEERS, "leaf002/b.json": ROUTES}, "leaf002"),
    "a file per switch": ({"leaf002.txt": SESSION}, "leaf002"),
    "a session with prompts": ({"night/one.txt": SESSION}, "leaf002"),
    "several switches in one file": ({"all.json": json.dumps({"leaf002": {"stdout": [EOS_PEERS, EOS_ROUTES]}})}, "leaf002"),
    "text within Ansible's result": ({"all.json": json.dumps({"leaf002": {"stdout": [PEERS, ROUTES]}})}, "leaf002"),
    "an envelope of eAPI": ({"leaf002.json": json.dumps({"jsonrpc": "2.0", "result": [EOS_PEERS, EOS_ROUTES]})}, "leaf002"),
    "vtysh": ({"leaf002/1": json.dumps(FRR_PEERS), "leaf002/2": json.dumps(FRR_ROUTES)}, "leaf002"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout(name: str, tmp_path: Path) -> None:
    files, device = LAYOUTS[name]
    found = collected(tmp_path, files)
    assert list(found.seen) == [device]
    assert set(found.seen[device].kinds) == {"bgp", "routes"}
    assert (found.unread, found.unplanned) == ({}, {})


def test_what_cannot_be_read_is_listed_and_stops_nothing(tmp_path: Path) -> None:
    found = collected(
        tmp_path,
        {
            "leaf001/bgp.json": PEERS,
            "leaf001/cut.json": PEERS[:-9],
            "leaf001/empty.json": "",
            "leaf001/other.json": '{"a": 1}',
            "leaf001/deep.json": "[" * 5000,
            "leaf001/odd.json": json.dumps({"vrfs": {"default": {"peers": {"10.0.0.1": {"ipv4Unicast": {}}}}}, "x": 1}),
            "leaf001/odder.json": json.dumps({"interfaceErrorCounters": {"Ethernet1": [{"fcsErrors": {"a": 1}}]}}),
            "unknown.txt": SESSION.replace("leaf002#", "leaf009#"),
        },
    )
    assert list(found.seen) == ["leaf001"]
    reasons = {Path(file).name: reason for file, reason in found.unread.items()}
    assert reasons["empty.json"] == "empty"
    assert reasons["other.json"] == "no known output of a switch"
    assert reasons["cut.json"].startswith("not JSON")
    assert list(reasons) == ["cut.json", "deep.json", "empty.json", "other.json"]
    assert [Path(file).name for file in found.unplanned] == ["unknown.txt"]


def test_a_daemon_that_does_not_run(tmp_path: Path) -> None:
    found = collected(tmp_path, {"leaf001/bgp.txt": "bgpd is not running\n"})
    assert list(found.seen["leaf001"].failures) == ["bgpd is not running"]


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected state of a switch, got a folder without files"):
        read(tmp_path, NAMES)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected state of a switch, got no such file or folder"):
        read(tmp_path / "none", NAMES)
