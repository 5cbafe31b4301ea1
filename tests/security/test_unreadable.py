"""One hostile file among the files of four switches: it is reported, and the others are judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.audit.checks import Scope
from fabric.audit.drift.devices import UNKNOWN
from fabric.base.formats import documents as json_format
from fabric.base.reading import GUARD, MAX_VALUES, UnreadableError, guarded, refuse_long_numbers, whole_lines
from fabric.model.facts import Facts
from fabric.nos.reading import read_device, readers
from fabric.nos.reading.values import numbers
from fabric.nos.target import targets
from fabric.solver.estimate.request import EstimateRequest
from tests import ROOT
from tests.examples import folder
from tests.fuzz.guard import peak_mb, reset_peak

SITES = {
    "sonic": "ai-sonic",
    "cumulus": "ai-cumulus",
    "eos": "ai-eos",
    "nxos": "ai-nxos",
    "junos": "ai-junos",
    "frr": "ai-frr",
}
DEEP = "".join(" " * depth + f"a{depth}\n" for depth in range(500))
LONG = "9" * 5000
# Network OS → texts that its reader, or the comparison of its statements, cannot take.
HOSTILE = {
    "sonic": [f'{{\n"DEVICE_METADATA":{{"localhost":{{"hostname":"NAME"}}}},"PORT":{{"Ethernet0":{{"mtu":{LONG}}}}}}}'],
    "cumulus": [f"- set:\n    system:\n      hostname: NAME\n      mtu: {LONG}\n"],
    "eos": [
        f"hostname NAME\ninterface Ethernet1\n   switchport trunk allowed vlan {LONG}\n",
        f"hostname NAME\nservice routing protocols model ribd\n{DEEP}",
    ],
    "nxos": [f"hostname NAME\nfeature bgp\n{DEEP}", f"hostname NAME\nfeature bgp\nvlan {LONG}\n"],
    "junos": [f"set system host-name NAME\nset interfaces et-0/0/1 mtu {LONG}\n"],
    "frr": [f"frr version 9\nhostname NAME\n{DEEP}", f"frr version 9\nhostname NAME\nrouter bgp {LONG}\n"],
}
# Texts of types and depths that no device prints, and that are read all the same.
ODD = {
    "sonic, deep": '{\n"DEVICE_METADATA":{"localhost":{"hostname":"NAME"}},"PORT":' + '{"a":' * 300 + "1" + "}" * 302,
    "sonic": '{\n"DEVICE_METADATA":{"localhost":{"hostname":"NAME"}},"PORT":{"Ethernet0":{"mtu":"9100"}},"X":[{"a":"b"}]}',
    "cumulus": "- set:\n    system:\n      hostname: NAME\n    interface:\n      swp1:\n        type: swp\n"
    "        description: 2026-11-22\n        a: !!binary aGk=\n        b: !!set {c, d}\n",
    "junos": "system { host-name NAME; }\n" + "a { " * 1000 + "b;" + " }" * 1000 + "\nset " + "x " * 1000 + "\n",
}
CASES = [(nos, text) for nos, texts in HOSTILE.items() for text in texts]


@pytest.fixture(autouse=True)
def closed(reader_guard: None) -> None:
    """As a user has it."""
    GUARD.open = False


@contextmanager
def memory_below(most_mb: float) -> Iterator[None]:
    """What is done inside needs less memory than that."""
    before = reset_peak()
    yield
    assert peak_mb() - before < most_mb


@cache
def configs(nos: str) -> dict[str, dict[str, str]]:
    """Four switches of an example: name → file → text."""
    home = folder(SITES[nos]) / "configs"
    names = sorted(path.name for path in home.iterdir() if path.is_dir() and "leaf" in path.name)[:4]
    return {name: {path.name: path.read_text() for path in sorted((home / name).iterdir())} for name in names}


def written(home: Path, nos: str, hostile: str) -> str:
    """The four in a folder, the first with a hostile file in place of its own; its name."""
    first = next(iter(configs(nos)))
    for name, files in configs(nos).items():
        (home / name).mkdir()
        if name == first:
            main = max(files, key=lambda file: len(files[file])) if nos != "frr" else "frr.conf"
            files = {**files, main: hostile.replace("NAME", name)}
        for file, text in files.items():
            (home / name / file).write_text(text)
    return first


def test_every_network_os_with_a_reader_has_a_case() -> None:
    assert set(HOSTILE) == {name for name, target in targets().items() if target.reader is not None}


@pytest.mark.parametrize(("nos", "text"), CASES, ids=[f"{nos}-{at}" for at, (nos, _) in enumerate(CASES)])
def test_check_of_a_folder(nos: str, text: str, tmp_path: Path) -> None:
    hostile = written(tmp_path, nos, text)
    outcome = pipeline.check(Scope(files=(), configs=tmp_path))
    broken = [one for one in outcome.verdict.findings if one.id == "FAB290"]
    assert {one.device for one in broken} == {hostile}
    assert all("cannot be read" in one.message for one in broken)
    (read,) = outcome.verdict.read
    assert read.devices >= 3


@pytest.mark.parametrize(("nos", "text"), CASES[::2], ids=[f"{nos}-{at}" for at, (nos, _) in enumerate(CASES[::2])])
def test_drift(nos: str, text: str, tmp_path: Path) -> None:
    hostile = written(tmp_path, nos, text)
    site = pipeline.drift(pipeline.load(ROOT / "intent" / f"{SITES[nos]}.yaml"), tmp_path, jobs=1)
    states = {one.device: one for one in site.devices if one.device in configs(nos)}
    assert states[hostile].state == UNKNOWN
    assert "cannot be read" in states[hostile].reason
    assert [one.state for name, one in states.items() if name != hostile] == ["in sync"] * 3


@pytest.mark.parametrize("case", ODD)
def test_odd_types_and_depths(case: str, tmp_path: Path) -> None:
    nos = case.partition(",")[0]
    hostile = written(tmp_path, nos, ODD[case])
    assert pipeline.check(Scope(files=(), configs=tmp_path)).verdict.read[0].devices == 4
    site = pipeline.drift(pipeline.load(ROOT / "intent" / f"{SITES[nos]}.yaml"), tmp_path, jobs=1)
    states = {one.device: one.state for one in site.devices if one.device in configs(nos)}
    assert states == dict.fromkeys(configs(nos), "in sync") | {hostile: "drifted"}


def test_a_reader_that_fails_is_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it raises, of whichever network OS."""
    name = written(tmp_path, "eos", "hostname NAME\nip routing\nservice routing protocols model multi-agent\n! break\n")
    real = readers._read
    for error in (TypeError("x"), KeyError("x"), RecursionError(), OverflowError(), MemoryError(), UnicodeError("x")):

        def fails(name: str, files: dict[str, str], error: Exception = error) -> Facts:
            raise error

        def read(own: object, name: str, files: dict[str, str], fails: Callable[..., Facts] = fails) -> Facts:
            return real(fails if any("! break" in text for text in files.values()) else own, name, files)  # type: ignore[arg-type]

        monkeypatch.setattr(readers, "_read", read)
        verdict = pipeline.check(Scope(files=(), configs=tmp_path)).verdict
        monkeypatch.undo()
        assert [one.device for one in verdict.findings if one.id == "FAB290"] == [name]


def test_the_guard() -> None:
    with pytest.raises(UnreadableError) as caught, guarded("x.cfg"):
        raise RecursionError
    assert (str(caught.value), caught.value.file) == ("cannot be read: nested too deeply", "x.cfg")
    with pytest.raises(OSError, match="disk"), guarded("x.cfg"):
        raise OSError("disk")
    GUARD.open = True
    with pytest.raises(TypeError), guarded("x.cfg"):
        raise TypeError


def test_debug_prints_the_traceback(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GUARD, "traceback", True)
    with pytest.raises(UnreadableError), guarded("x.cfg"):
        {}["key"]
    assert "KeyError: 'key'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("nos", "line"),
    [
        ("eos", "interface Ethernet{0}\n   switchport trunk allowed vlan {0}-4094\n"),
        ("nxos", "interface Ethernet1/{0}\n  switchport trunk allowed vlan {0}-4094\n"),
        ("cumulus", "nv set interface swp{0}-1000 bridge domain br_default vlan {0}-1000\n"),
        ("junos", "set interfaces interface-range a{0} member-range xe-0/0/0 to xe-0/0/9999\n"),
    ],
)
def test_ranges_of_a_file_are_bounded(nos: str, line: str) -> None:
    """A few bytes stand for thousands of values."""
    text = "".join(line.format(at) for at in range(1, 200))
    with memory_below(400), suppress(UnreadableError), guarded():
        read_device("x", nos, {"x.cfg": text})


def test_too_many_values() -> None:
    with pytest.raises(UnreadableError, match=f"more than {MAX_VALUES:,} values"), guarded():
        deque(map(numbers, (f"{at}-{at + 4000}" for at in range(1000))), 0)


def test_numbers_and_lines_are_bounded() -> None:
    refuse_long_numbers("1" * 100)
    with pytest.raises(UnreadableError) as caught:
        refuse_long_numbers("a\nb " + "1" * 101)
    assert caught.value.line == 2
    assert whole_lines("a" * 5000 + "\nb") == "a" * 2000 + "\nb"


@pytest.mark.parametrize("text", ["[NaN]", "[-Infinity]", "[1e999]", f"[{'9' * 101}]", "[" * 100_000])
def test_numbers_of_json(text: str) -> None:
    with pytest.raises(UnreadableError):
        json_format.load(text)


def test_lldp_of_four_switches(tmp_path: Path) -> None:
    from tests.fuzz.files import WRITERS, lldp_outputs

    site, _ = WRITERS["eos"]
    plan = pipeline.plan(pipeline.load(ROOT / "intent" / f"{site}.yaml"))
    outputs = [(name, data) for name, data in lldp_outputs("eos") if b"lldpNeighbors" in data][:4]
    for at, (name, data) in enumerate(outputs):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"[" * 100_000 if at == 0 else data)
    verdict, warnings = pipeline.verify(plan, [tmp_path], {})
    assert [one.place.file for one in warnings if one.severity == "error"] == [str(tmp_path / outputs[0][0])]
    assert (verdict.files, verdict.devices) == (4, 3)


def test_doctor_with_several_files(tmp_path: Path) -> None:
    plan = pipeline.plan(pipeline.load(ROOT / "intent" / "starter.yaml"))
    fabric = next(iter(plan.fabrics.values()))
    from tests.fuzz.files import NCCL

    (tmp_path / "good.log").write_bytes(NCCL)
    (tmp_path / "bad.json").write_text('[{"name": "AllReduce", "size": ' + LONG + "}]")
    (tmp_path / "many.log").write_text("h:1:2 [0] NCCL INFO 100000000 coll channels\n")
    paths = [tmp_path / name for name in ("bad.json", "good.log", "many.log")]
    found = pipeline.doctor(fabric, paths, EstimateRequest(), ())
    assert [Path(one.place.file).name for one in found.warnings if one.severity == "error"] == ["bad.json"]
    assert len(found.spans) == 1
