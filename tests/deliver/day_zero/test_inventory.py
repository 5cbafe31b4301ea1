"""Which machine is which switch: an inventory in CSV with all its mistakes, and the ports of the out-of-band fabric."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric.base.diagnostics import InputError, Report
from fabric.deliver.day_zero.inventory import circuit_ids, read
from tests.deliver.day_zero.sites import BELOW, CIRCUITS, SHA256, SITE, exported, planned

NAMES = ("leaf1", "leaf2", "leaf3")


def parsed(text: str, folder: Path) -> tuple[dict[str, tuple[str, str]], list[str]]:
    path, report = folder / "i.csv", Report()
    path.write_text(text, encoding="utf-8")
    try:
        machines = read(path, NAMES, report)
    except InputError as error:
        return {}, [str(item).replace(f"{folder}/", "") for item in error.diagnostics]
    found = {name: (machine.mac, machine.serial) for name, machine in machines.items()}
    return found, [str(item).replace(f"{folder}/", "").split("\n")[0] for item in report.errors]


def test_every_usual_form(tmp_path: Path) -> None:
    """With a byte order mark, line ends of Windows, further columns in any order, quotes and blanks."""
    text = '\ufeff# Racks 1 to 3\r\n\r\nAsset,Serial,Switch,MAC\r\n7,"JPE1", leaf1 ,52-54-00-AB-00-01\r\n'
    text += "8,,leaf2,5254.00ab.0002\r\n\r\n9,S-3_x.1,leaf3\r\n"
    assert parsed(text, tmp_path) == (
        {"leaf1": ("52:54:00:ab:00:01", "JPE1"), "leaf2": ("52:54:00:ab:00:02", ""), "leaf3": ("", "S-3_x.1")},
        [],
    )


HOSTILE = ["a b", "a;reboot", "$(reboot)", "a'b", 'a""b', "a\\b", "../x", "a/b", "-x", "a\tb", "x" * 65, "é", "a#b", "{a}"]
MISTAKES = [
    ("switch,mac\nleaf9,52:54:00:00:00:01\n", ["i.csv:2:1: error[FAB702]: 'leaf9' is no switch of this plan"]),
    ("switch,mac\n,52:54:00:00:00:01\n", ["i.csv:2:1: error[FAB701]: expected the name of a switch, got none"]),
    ("switch,mac\nleaf1,\n", ["i.csv:2:1: error[FAB701]: expected a MAC address or a serial number of 'leaf1', got neither"]),
    *(
        (
            f"switch,mac\nleaf1,{mac}\n",
            [f"i.csv:2:7: error[FAB701]: expected the MAC address of one station, such as 52:54:00:12:34:56, got '{mac}'"],
        )
        for mac in ("52:54:00:00:00", "ff:ff:ff:ff:ff:ff", "00:00:00:00:00:00", "01:00:5e:00:00:01", "52:54:00:00:00:0g")
    ),
    (
        "switch,mac\nleaf1,52:54:00:00:00:01\nleaf2,525400000001\nleaf1,52:54:00:00:00:02\n",
        [
            "i.csv:3:7: error[FAB703]: MAC address 52:54:00:00:00:01 is in line 2 as well",
            "i.csv:4:1: error[FAB703]: switch leaf1 is in line 2 as well",
        ],
    ),
    ("switch,serial\nleaf1,A1\nleaf2,A1\n", ["i.csv:3:7: error[FAB703]: serial number A1 is in line 2 as well"]),
    (
        "switch,serial\nleaf1,A12\nleaf2,A1\n",
        ["i.csv:3:7: error[FAB703]: serial number A1 is a part of A12: a DHCP server could take one switch for the other"],
    ),
    *(
        (
            f'switch,serial\nleaf1,"{serial}"\n',
            ["error[FAB701]: expected a serial number of letters, digits and inner . _ -, got "],
        )
        for serial in HOSTILE
    ),
]


@pytest.mark.parametrize(("text", "messages"), MISTAKES)
def test_a_mistake_has_its_place(text: str, messages: list[str], tmp_path: Path) -> None:
    _, found = parsed(text, tmp_path)
    assert len(found) == len(messages)
    assert all(message in line for message, line in zip(messages, found, strict=True)), found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "i.csv:1:1: error[FAB701]: expected columns switch and mac or serial, got none"),
        ("leaf1,x\n", "i.csv:1:1: error[FAB701]: expected columns switch and mac or serial, got 'leaf1', 'x'"),
        ('switch,mac\n"leaf1,52\n', "i.csv:2:1: error[FAB701]: expected CSV, got unexpected end of data"),
    ],
)
def test_a_file_that_is_none(text: str, message: str, tmp_path: Path) -> None:
    assert parsed(text, tmp_path)[1][0].split("\n")[0] == message


# --- Ports of the out-of-band fabric --------------------------------------------------------------------------


def test_circuit_ids_of_the_plan() -> None:
    """Those of a network OS whose relay agent has no documented form are stated in the intent."""
    report = Report()
    assert circuit_ids(planned(BELOW), report) == {}
    assert circuit_ids(planned(CIRCUITS), report) == {
        "core-leaf001": b"oob-leaf001:swp48",
        "core-leaf002": b"oob-leaf002:swp48",
        "oob-leaf001": b"oob-leaf002:swp47",
        "oob-leaf002": b"oob-leaf001:swp47",
    }
    assert report.errors == []


def test_equal_circuit_ids(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        exported(CIRCUITS.replace("{switch}:", "x"), "", tmp_path)
    assert [str(item).split("\n")[0] for item in error.value.diagnostics] == [
        f"intent.yaml:4:73: error[FAB703]: circuit id 'xswp{port}' would be that of {first}, {second}"
        for port, first, second in ((47, "oob-leaf001", "oob-leaf002"), (48, "core-leaf001", "core-leaf002"))
    ]


REFUSED = {
    "no line": (SITE, "switch,mac\n", "inventory.csv: error[FAB704]: 7 switches without a line or a planned port: "),
    "no inventory": (BELOW, "", "error[FAB704]: 4 switches without a line or a planned port: "),
    "serial alone": (
        SITE,
        "switch,serial\ncumulus-leaf001,S1\n",
        "inventory.csv:2:1: error[FAB704]: cumulus-leaf001: NVIDIA Cumulus Linux sends no serial number",
    ),
    "no server": (re.sub(r"management:\n(  .*\n)+", "", SITE), "", "intent.yaml:1:1: error[FAB700]: fabric 'cumulus': "),
    "IPv6": (SITE.replace("172.16.0.0/24", "fd00:40::/64"), "switch,mac\nib-leaf001,525400000001\n", "error[FAB705]"),
    "extensions": (
        SITE.replace("version: 10.5(3),", f"version: 10.5(3), extensions: {{file: a.rpm, sha256: {SHA256}}},"),
        "switch,mac\n",
        "intent.yaml:11:7: error[FAB706]: images: Cisco NX-OS loads no extensions in its first start",
    ),
    "image": (
        SITE.replace("      sonic:", "      sonik:"),
        "switch,mac\n",
        "error[FAB706]: images: 'sonik' is no network OS and no model of these switches\n    hint: did you mean 'sonic'?",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_exported(case: str, tmp_path: Path) -> None:
    text, inventory, message = REFUSED[case]
    with pytest.raises(InputError) as error:
        exported(text, inventory, tmp_path)
    assert message in str(error.value)
