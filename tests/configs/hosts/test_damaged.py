"""Files of servers as they may lie there: cut off, edited, or not theirs at all."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from fabric.audit.checks.servers import disagreements
from fabric.configs.hosts import host_files
from fabric.configs.hosts.mismatches import SwitchEnd
from tests.configs.hosts.helpers import lossless_facts, plan

MADE = plan()
FILES = {path: data.decode() for path, data in host_files(MADE, facts_of=lossless_facts)}
NETPLAN, ROCE, NCCL = "hosts/gpu-0001/60-fabric.yaml", "hosts/_groups/gpu.roce.sh", "hosts/_groups/gpu.nccl.env"
END = SwitchEnd(
    dscp=26,
    priority=3,
    cnp_dscp=48,
    cnp_priority=6,
    mtu=9216,
    address="10.128.0.0",
    peer_address="10.128.0.1/31",
    pfc_priorities=(3,),
    lossless_percent=60,
)
OTHER = replace(END, address="10.128.0.32", peer_address="10.128.0.33/31")
ENDS = {("gpu-0001", "compute1"): END, ("gpu-0001", "compute2"): OTHER}
TWO = {("gpu-0001", "compute1"): END, ("gpu-0002", "compute1"): replace(END, address=None, peer_address=None)}


def configured(texts: Mapping[str, str | bytes], ends: Mapping[tuple[str, str], SwitchEnd] = ENDS) -> list[str]:
    """What is found where some of the files are other ones."""
    changed = {path: text if isinstance(text, bytes) else text.encode() for path, text in texts.items()}
    files = ((path, text.encode()) for path, text in FILES.items())
    found = disagreements(MADE, dict(ends), files, lambda path, data: changed.get(path, data), "out")
    return [str(finding).partition("\n")[0] for finding in found]


def changed(path: str, old: str, new: str) -> dict[str, str]:
    assert old in FILES[path]
    return {path: FILES[path].replace(old, new, 1)}


def test_sound_files() -> None:
    assert configured({}) == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({NETPLAN: ""}, f"out/{NETPLAN}:1: error[FAB290]: gpu-0001: expected addresses under `network`, got none"),
        ({NETPLAN: "5"}, f"out/{NETPLAN}:1: error[FAB290]: gpu-0001: expected addresses under `network`, got none"),
        ({NETPLAN: b"a\n\x00\xff"}, f"out/{NETPLAN}:2: error[FAB290]: gpu-0001: not text: control characters"),
        ({NETPLAN: "[" * 500}, f"out/{NETPLAN}:2: error[FAB290]: gpu-0001: not YAML: did not find"),
        ({NETPLAN: "[" * 10_000}, f"out/{NETPLAN}:"),  # the line and the problem depend on libyaml's own limit
        (
            changed(NETPLAN, 'addresses: ["10', 'addresses: "10'),
            f"out/{NETPLAN}:10: error[FAB290]: gpu-0001: not YAML: did not find expected key",
        ),
        (
            changed(NETPLAN, "mtu: 9000", "mtu: large"),
            f"out/{NETPLAN}:9: error[FAB290]: gpu-0001: mtu: expected a number, got large",
        ),
        (
            changed(NETPLAN, "mtu: 9000", "mtu: " + "9" * 5000),
            f"out/{NETPLAN}:9: error[FAB290]: gpu-0001: mtu: expected a number, got 999",
        ),
        (
            changed(ROCE, "24:0 25:0", "24:x 25:0"),
            f'out/{ROCE}:80: error[FAB290]: not understood: run dcb app replace dev "$nic" dscp-prio 24:x 25:0 ',
        ),
        (
            changed(ROCE, "--tcbw 40,0", "--tcbw"),
            f'out/{ROCE}:88: error[FAB290]: not understood: run mlnx_qos -i "$nic" --prio_tc ',
        ),
        (
            changed(ROCE, 'run ip link set dev "$nic"', 'run ip link set dev "$nic'),
            f'out/{ROCE}:72: error[FAB290]: not understood: run ip link set dev "$nic mtu 9000',
        ),
    ],
)
def test_a_damaged_file_is_reported_with_its_line_and_once(texts: Mapping[str, str | bytes], expected: str) -> None:
    found = configured(texts)
    assert len(found) == 1
    assert found[0].startswith(expected)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            changed(NCCL, "NCCL_IB_TC=104", "NCCL_IB_TC=high"),
            [
                f"out/{NCCL}: error[FAB457]: gpu-0001: {nic}: NCCL_IB_TC: expected 104 (DSCP 26) as on backend-leaf00{n}, "
                "got high"
                for n, nic in enumerate(("compute1", "compute2"), 1)
            ],
        ),
        (
            changed(ROCE, "roce_rp/enable/3", "roce_rp/enable/all"),
            [
                f"out/{ROCE}: error[FAB453]: gpu-0001: {nic}: priority with ECN: expected 3 as on backend-leaf00{n}, got all"
                for n, nic in enumerate(("compute1", "compute2"), 1)
            ],
        ),
        ({ROCE: FILES[ROCE].replace("for nic in", "for card in")}, ["PFC", "PFC"]),
    ],
)
def test_odd_values_are_differences(texts: Mapping[str, str], expected: list[str]) -> None:
    found = configured(texts)
    assert len(found) == len(expected)
    assert all(words in line for line, words in zip(found, expected, strict=True))


def test_one_damaged_file_hides_nothing_of_the_others() -> None:
    texts = {NETPLAN: "", **changed(NCCL, "NCCL_IB_TC=104", "NCCL_IB_TC=96")}
    assert [line.split("error")[1][1:7] for line in configured(texts)] == ["FAB290", "FAB457", "FAB457"]


def test_a_damaged_script_is_that_of_a_whole_group() -> None:
    found = configured(changed(ROCE, "all:off 3:on", "all:off x:on"), TWO)
    assert len(found) == 2
    assert len(set(found)) == 1


def test_nothing_is_too_damaged() -> None:
    """200 texts: cut off, lines gone, repeated or swapped, words and characters replaced."""
    chance = random.Random(5)
    odd = (
        "",
        "x",
        "-1",
        "9" * 5000,
        "[",
        "{",
        "}",
        '"',
        "'",
        "&a",
        "*a",
        "!!int",
        "%",
        ":",
        "\t",
        "\x00",
        "\ud7ff",
        "null",
        "٣",
    )
    found = set()
    for number in range(200):
        path = (NETPLAN, ROCE, NCCL)[number % 3]
        text = FILES[path]
        for _ in range(chance.randint(1, 4)):
            lines = text.split("\n")
            at, other = (chance.randrange(len(lines)) for _ in range(2))
            match chance.randrange(5):
                case 0:
                    text = text[: chance.randrange(len(text) + 1)]
                case 1:
                    del lines[at]
                    text = "\n".join(lines)
                case 2:
                    lines[at], lines[other] = lines[other] + lines[at], lines[at]
                    text = "\n".join(lines)
                case 3:
                    words = lines[at].split(" ")
                    words[chance.randrange(len(words))] = chance.choice(odd)
                    lines[at] = " ".join(words)
                    text = "\n".join(lines)
                case _:
                    place = chance.randrange(len(text) + 1)
                    text = text[:place] + chance.choice(odd) + text[place + 1 :]
        found |= {line.split("error[")[1][:6] for line in configured({path: text})}
    assert found >= {"FAB290", "FAB450", "FAB451", "FAB453", "FAB454", "FAB457"}
