"""`fabric explain`: the arithmetic ends at the number that the plan has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabric.design.explain.counts import TOPICS
from tests.cli.conftest import Run
from tests.cli.designs import DESIGNS, write
from tests.goldens import golden

Row = dict[str, Any]


def last(text: str) -> int:
    """The last number of a text."""
    return int(re.findall(r"\d[\d,]*", text)[-1].replace(",", ""))


def total(text: str, form: str) -> int:
    """The sum over the lines that have this form (one a server group)."""
    return sum(int(number.replace(",", "")) for number in re.findall(form, text))


def _pods(text: str, row: Row) -> bool:
    return total(text, r"pods = .* = (\d+)") == row["pods"]["count"] if row["tiers"] == 3 else "1 pod" in text


def _cores(text: str, row: Row) -> bool:
    return last(text) == row["switches"]["core"] if row["tiers"] == 3 else "no cores" in text


def _spines(text: str, row: Row) -> bool:
    return last(text) == row["switches"]["spine"] if row["tiers"] > 1 else "no spines" in text


def _leaves(text: str, row: Row) -> bool:
    return last(text) == 2 if row["kind"] == "collapsed" else total(text, r"leaves = .* = (\d+)") == row["switches"]["leaf"]


def _links(text: str, row: Row) -> bool:
    kinds = {k: n for k, n in row["cables"].items() if n}
    sums = {k: total(text, rf"{k}: .* = (\d+)") for k in ("server-leaf", "leaf-spine", "spine-core")}
    shown = {k: int(n.replace(",", "")) for n, k in re.findall(r"([\d,]+) ([a-z-]+)", text.splitlines()[-1])}
    return shown == kinds and sums == {k: row["links"][k] for k in sums}


def _bgp(text: str, row: Row) -> bool:
    if not row["bgp"]["sessions"]:
        return text == "InfiniBand: no BGP\n"
    return (total(text, r"sessions .* = (\d+)"), last(text)) == (row["bgp"]["sessions"], row["bgp"]["asns"])


def _ratios(text: str, row: Row) -> bool:
    shown = {tier: float(ratio) for tier, ratio in re.findall(r"(\w+): .* = ([\d.]+):1", text)}
    return shown == {tier: value for tier, value in row["oversubscription"].items() if value is not None}


RIGHT: dict[str, Callable[[str, Row], bool]] = {
    "units": lambda text, row: total(text, r"units = .* = (\d+)") == row["units"],
    "leaves": _leaves,
    "uplinks": lambda text, row: f"= {row['ports']['leaf']['up']}\n" in text,
    "spines": _spines,
    "pods": _pods,
    "cores": _cores,
    "tiers": lambda text, row: f"{row['tiers']} tier" in text.splitlines()[-1],
    "oversubscription": _ratios,
    "links": _links,
    "bgp": _bgp,
    "limits": lambda text, row: total(text, r"  ([\d,]+) servers") == row["limits"]["max_servers"],
}


def test_every_topic_has_its_rule() -> None:
    assert set(RIGHT) == set(TOPICS)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_last_number_is_the_plans(name: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, name)
    fabrics = json.loads(run("plan intent.yaml --json").out)["fabrics"]
    whole = []
    for fabric, row in fabrics.items():
        for topic, right in RIGHT.items():
            done = run("explain", "intent.yaml", f"{fabric}.{topic}")
            assert (done.code, done.err) == (0, "")
            if not (name == "planned" and topic == "uplinks"):  # 32 are wired for, 16 of them are built
                assert right(done.out, row), f"{topic}:\n{done.out}{row}"
            whole.append(f"{fabric}.{topic}\n{done.out}")
    golden(f"cli/explain-{name}.txt", "\n".join(whole))


SUBJECTS = {
    "backend-leaf001": "a leaf",
    "backend-core064": "a core",
    "dgx-b200-0001": "a server",
    "backend-leaf001:1": "a port to a server",
    "backend-leaf001:33": "a port to a spine",
    "backend-spine001:64": "a port to a core",
    "backend-leaf001:99": "no such port",
    "dgx-b200-0001:compute8": "a NIC",
    "10.0.0.1": "a loopback",
    "10.64.0.0": "an end of a link",
    "4200000005": "an AS number",
    "spines": "the only fabric needs no name",
}


def test_devices_ports_and_addresses(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "three-tier")
    whole = []
    for subject, what in SUBJECTS.items():
        done = run("explain", "intent.yaml", subject)
        assert (done.code, done.err) == (0, ""), subject
        whole.append(f"# {what}: {subject}\n{done.out}")
    golden("cli/explain-subjects.txt", "\n".join(whole))


def test_a_port_of_a_nic_is_asked_for_by_its_name(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "planes")
    for port in ("compute1p2", "1/2"):
        done = run("explain", "intent.yaml", f"two-0001:{port}")
        assert done.code == 0, done.err
        assert "NIC 1" not in done.out
        assert "far end: backend-leaf002 cage 1/1" in done.out


def test_without_a_subject_it_says_what_can_be_asked(run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-fabrics")
    done = run("explain intent.yaml")
    assert done.code == 0
    assert all(f"  {fabric}.{topic} " in done.out for fabric in ("backend", "storage") for topic in TOPICS)


@pytest.mark.parametrize(
    ("subject", "hint"),
    [
        ("backend.spine", "did you mean 'backend.spines'?"),
        ("leaf001", "did you mean 'storage-leaf001'?"),
        ("backend-leaf01", "did you mean 'backend-leaf001'?"),
        ("backned.spines", "did you mean 'backend.spines'?"),
        ("spines", "did you mean"),  # two fabrics: which?
        ("192.0.2.1", "one of"),
        ("::1", "one of"),
        ("99", "one of"),
    ],
)
def test_an_unknown_subject_names_the_nearest(subject: str, hint: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path, "two-fabrics")
    done = run("explain", "intent.yaml", subject)
    assert (done.code, done.out) == (2, "")
    assert f"intent.yaml: error[FAB171]: nothing to explain under '{subject}'" in done.err
    assert hint in done.err
