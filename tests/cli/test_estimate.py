"""`fabric estimate`, `capacity` and `step`: the shape of what they print, and every mistake with the nearest valid thing.

Figures are those of fitted parameters, so the goldens hold a mask where they stand.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.goldens import golden

SITE = """\
version: 1
site: dc1
catalog:
  servers:
    disk: {gpus: 0, nics: {storage: {count: 2, speed_gbps: 200}}}
fabrics:
  backend:
    servers: {model: dgx-h100, count: 16, name: gpu}
    topology: {switch: 32x400g, unit: {servers: 8}, leaf: {oversubscription: 2}}
  storage:
    purpose: storage
    servers: {model: disk, count: 8, nics: storage}
    topology: {switch: 64x400g, unit: {servers: 8}}
"""
STEP = """\
model: {parameters: 7.0e+9, layers: 32, hidden: 4096, sequence: 4096}
batch: {micro_batches: 8}
parallel: {tensor: 8, sharding: optimizer}
compute: {tflops_per_gpu: 989, utilisation: 0.5}
"""
TABLE = """\
id: other
collective: all_reduce
platform: {gpu: h100}
rows: [{bytes: 1024, oop: {time_us: 10}}]
"""
FILES = {
    "site.yaml": SITE,
    "step.yaml": STEP,
    "measured.yaml": TABLE,
    "broken.yaml": "{model: [",
    "list.yaml": "- a\n",
    "empty.yaml": "",
    "typo.yaml": "shared: {nic_shar: 0.9}\n",
    "zero.yaml": "shared: {nic_share: 0}\ngeneration: {launch_us: {hoper: 5}}\n",
    "words.yaml": "transport: {net_hop: fast}\nshared: {cta_GBps: .nan}\n",
}
FIGURE = re.compile(r" *[0-9][0-9,]*\.[0-9]+%?")


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


def masked(text: str) -> str:
    """Without what depends on fitted parameters: figures with a decimal point, what limits, what would be faster."""
    text = re.sub(r"(?m)^note      (busbw exceeds|no measured table).*\n", "", text)
    text = re.sub(r"(: NCCL's tables say) [0-9.,]+ us( at [^;\n]*).*", r"\1 #\2", text)
    text = FIGURE.sub(" #", text)
    return re.sub(r"(?m)^( +[0-9]{4,} .* #)  \S.*", r"\1  #", text)


FINE = {
    "ring": "--size 1M --size 1G --algorithm ring --protocol simple",
    "alltoall": "--size 1G --collective alltoall --placement spread --routing adaptive --qps 4",
    "one-server": "--size 1G --gpus 8 --algorithm ring --protocol simple",
    "named": "--size 1G --algorithm ring --protocol simple --placement gpu-0009,gpu-0001",
    "compared": "--size 1G --algorithm ring --protocol simple --placement packed --placement spread --placement random:1",
    "failed": "--size 1G --algorithm ring --protocol simple --routing spray --placement spread --fail backend-leaf001:1",
    "jobs": "--size 1G --algorithm hierarchical --gpus 32 --jobs 4 --routing spray",
}


@pytest.mark.parametrize("name", sorted(FINE))
def test_printed(run: Run, name: str) -> None:
    done = run(f"estimate site.yaml {FINE[name]}")
    assert (done.code, done.err) == (0, "")
    golden(f"cli/estimate-{name}.txt", masked(done.out))


def test_same_bytes_twice(run: Run) -> None:
    words = "estimate site.yaml --sweep 8:8G --placement spread --placement random:4 --fail backend-spine001"
    for more in ("", " --json"):
        first, second = run(words + more), run(words + more)
        assert first.code == 0
        assert first.out == second.out


def test_sweep(run: Run) -> None:
    """nccl-tests' sizes: 31 of them unless reported otherwise."""
    whole = json.loads(run("estimate site.yaml --json").out)
    assert [row["bytes"] for row in whole["rows"]] == [8 << step for step in range(31)]
    four = json.loads(run("estimate site.yaml --sweep 1M:1G:4 --json").out)
    assert [row["bytes"] for row in four["rows"]] == [1 << bit for bit in range(20, 31, 2)]
    sizes = json.loads(run("estimate site.yaml --size 1.5K --size 1MiB --size 1500 --size 1k --json").out)
    assert [row["bytes"] for row in sizes["rows"]] == [1024, 1500, 1536, 1 << 20]


ROW = {
    "collective": str,
    "ranks": int,
    "bytes": int,
    "algorithm": str,
    "protocol": str,
    "time_us": float,
    "algbw_GBps": float,
    "busbw_GBps": float,
    "bottleneck": str,
    "wire_bytes": int,
    "ideal_time_us": float,
}


@pytest.mark.parametrize(
    "collective", ["all_reduce", "all_gather", "reduce_scatter", "alltoall", "broadcast", "reduce", "sendrecv"]
)
def test_json(run: Run, collective: str) -> None:
    done = run(f"estimate site.yaml --collective {collective} --size 8 --size 1G --gpus 64 --fail backend-spine001 --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    for row in found["rows"]:
        assert {key: type(row[key]) for key in ROW} == ROW
        assert (row["collective"], row["ranks"]) == (collective, 64)
        assert row["time_us"] >= row["ideal_time_us"] > 0
    assert found["failed"] == ["backend-spine001"]
    assert all(row["time_us"] >= then for row, then in zip(found["rows"], found["healthy_time_us"], strict=True))


def test_json_of_several_placements(run: Run) -> None:
    found = json.loads(run("estimate site.yaml --size 1G --placement packed --placement spread --json").out)
    assert [item["placement"] for item in found["placements"]] == ["packed", "spread"]
    assert found["rows"] == found["placements"][0]["rows"]


def test_capacity(run: Run) -> None:
    done = run("capacity site.yaml --pairs 2 --json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["fabric"], found["failed"], len(found["pairs"])) == ("backend", [], 2)
    assert "bisection" in run("capacity site.yaml").out


def test_capacity_with_failures(run: Run) -> None:
    whole, broken = (json.loads(run(f"capacity site.yaml {words} --json").out) for words in ("", "--fail backend-spine001"))
    assert broken["failed"] == ["backend-spine001"]
    assert broken["bisection"]["share"] < whole["bisection"]["share"]


def test_training_step(run: Run) -> None:
    done = run("step site.yaml --job step.yaml")
    assert (done.code, done.err) == (0, "")
    assert re.search(r"^tokens/s +[0-9,]+, [0-9.]+ % lost to the network$", done.out, re.MULTILINE)
    packed, spread = (
        json.loads(run(f"step site.yaml --job step.yaml --placement {request} --json").out)
        for request in ("packed", "spread")
    )
    assert packed["gpus"] == 128
    assert [item["dimension"] for item in packed["dimensions"]] == ["tensor", "data", "data"]
    assert 0 < packed["ideal_ms"] < packed["step_ms"] <= spread["step_ms"]


def test_a_step_spreads_as_the_plan_does_unless_reported_otherwise(run: Run) -> None:
    """The plan of this site balances by a hash over several queue pairs."""
    times = [
        json.loads(run(f"step site.yaml --job step.yaml --placement spread {words} --json").out)["step_ms"]
        for words in ("", "--routing spray", "--routing ecmp --qps 1")
    ]
    assert times[1] < times[0] < times[2]


RENAMED = {
    "estimate site.yaml --capacity": "capacity site.yaml",
    "estimate --capacity site.yaml --pairs 2 --json": "capacity site.yaml --pairs 2 --json",
    "estimate site.yaml --step step.yaml --json": "step site.yaml --job step.yaml --json",
    "estimate site.yaml --gpus 64 --step=step.yaml": "step site.yaml --job step.yaml --gpus 64",
}


@pytest.mark.parametrize("old", RENAMED)
def test_the_old_spelling_works_and_names_the_new_one(run: Run, old: str) -> None:
    was, now = run(old), run(RENAMED[old])
    assert (was.code, was.out) == (0, now.out)
    assert f"is now `fabric {RENAMED[old].split()[0]}`" in was.err


def test_help_shows_the_new_spelling_alone(run: Run) -> None:
    reported = run("estimate --help").out
    assert "--capacity" not in reported
    assert "--step" not in reported


def test_plot(run: Run, tmp_path: Path) -> None:
    done = run("estimate site.yaml --sweep 1K:1G --placement packed --placement spread --plot out.svg")
    assert (done.code, done.err) == (0, "wrote out.svg\n")
    picture = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert ET.fromstring(picture).tag.endswith("svg")
    assert "packed" in picture
    assert "ideal" in picture


def test_platform_takes_effect(run: Run, tmp_path: Path) -> None:
    """A NIC that gives half of its payload makes a ring over the network take about twice as long."""
    words = "estimate site.yaml --size 64G --algorithm ring --protocol simple --min-ctas 64 --routing spray --json"
    (tmp_path / "half.yaml").write_text("shared: {nic_share: 0.4}\n", encoding="utf-8")
    (tmp_path / "full.yaml").write_text("about: mine\nshared: {nic_share: 0.8}\n", encoding="utf-8")
    half, full = (json.loads(run(f"{words} --platform {name}.yaml").out)["rows"][0]["time_us"] for name in ("half", "full"))
    assert half / full == pytest.approx(2, rel=0.05)


ESTIMATE = (
    "--size junk",
    "--size 1",
    "--size 1P",
    "--sweep junk",
    "--sweep 1M:junk",
    "--sweep 1G:1M",
    "--sweep 1M:1G:1",
    "--size 1G --sweep 1M:1G",
    "--collective all_reduc",
    "--collective scan",
    "--algorithm rng",
    "--algorithm tree --collective alltoall",
    "--algorithm nvls --collective broadcast",
    "--algorithm nvls --protocol ll",
    "--algorithm in_network --gpus 8",
    "--protocol ll256",
    "--routing ecpm",
    "--qps 129",
    "--seed -1",
    "--min-ctas 0",
    "--jobs 0",
    "--jobs 3 --gpus 64",
    "--gpus 100000",
    "--gpus 12",
    "--gpus 1",
    "--gpus -8",
    "--fabric bakend",
    "--fabric storage",
    "--placement sprad",
    "--placement random:x",
    "--placement gpu-0001,gpu-0017",
    "--placement gpu-0001,gpu-0001",
    "--placement backend-leaf001",
    "--placement gpu-0001,gpu-0002 --gpus 8",
    "--gpus-per-server 0",
    "--gpus-per-server 9",
    "--gpus-per-server 3 --gpus 8",
    "--gpus-per-server 1 --gpus-per-domain 8",
    "--gpu-ids 0;1",
    "--gpu-ids 0,8",
    "--gpu-ids 2,2",
    "--communicators 0",
    "--communicators rail",
    "--communicators 3",
    "--communicators per-rail --gpus-per-server 2",
    "--communicators per-rail --jobs 2",
    "--communicators 2 --gpu-ids 0,1,2",
    "--fail backend-leaf01",
    "--fail backend-leaf001:99",
    "--fail backend-leaf001:backend-leaf002",
    "--fail gpu-0001:backend-leaf009",
    "--fail gpu-0001",
    "--fail backend-spine001 --fail backend-spine002",
    "--fail backend-spine001 --fail backend-spine003 --fail backend-leaf17",
    "--platform nowhere.yaml",
    "--platform broken.yaml",
    "--platform list.yaml",
    "--platform empty.yaml",
    "--platform measured.yaml",
    "--platform step.yaml",
    "--platform typo.yaml",
    "--platform zero.yaml",
    "--platform words.yaml",
    "--size 1M --plot nowhere/out.svg",
    "--size 1M --plot folder",
    "--size 1M --plot out.svg --measured nowhere.yaml",
    "--size 1M --plot out.svg --measured step.yaml",
    "--size 1M --plot out.svg --measured list.yaml",
    "--size 1M --measured measured.yaml",
)
MISTAKES = (
    *(f"estimate site.yaml {words}" for words in ESTIMATE),
    *(f"step site.yaml --job {name}.yaml" for name in ("nowhere", "broken", "list", "empty", "site")),
    "step site.yaml --job step.yaml --gpus 12",
    "step site.yaml --job step.yaml --routing ecpm --qps 129 --seed -1",
    "step site.yaml --job step.yaml --placement sprad",
    "step site.yaml --job step.yaml --platform typo.yaml",
    "step site.yaml --job step.yaml --fail backend-leaf01",
    "step site.yaml --job step.yaml --fabric storage",
    "capacity site.yaml --pairs -1 --seed -1",
    "capacity site.yaml --pairs 10001",
    "capacity site.yaml --fail backend-leaf01",
    "capacity site.yaml --fail backend-spine001 --fail backend-spine002",
    "capacity site.yaml --fabric bakend",
    "capacity site.yaml --gpus-per-server 9",
    "capacity site.yaml --gpus 20 --communicators three",
)
REFUSED = (  # options that mean nothing there
    "step site.yaml --job step.yaml --jobs 2",
    "step site.yaml --job step.yaml --sweep 1K:1M",
    "step site.yaml",
    "capacity site.yaml --size 1M",
    "capacity site.yaml --job step.yaml",
    "estimate site.yaml --pairs 5",
    "estimate site.yaml --job step.yaml",
    "estimate site.yaml --capacity --step step.yaml",
    "estimate site.yaml --capacity --size 1M",
    "estimate site.yaml --step step.yaml --sweep 1K:1M",
)


@pytest.mark.parametrize("words", MISTAKES)
def test_mistake(run: Run, words: str) -> None:
    """Exit code 2, nothing on stdout, an error and a hint for each mistake, no traceback, no inner words of Python."""
    done = run(words)
    assert done.code == 2
    assert done.out == ""
    messages = done.err.splitlines()
    assert messages
    for word in ("Traceback", "internal error", "object has no", "Warning"):
        assert word not in done.err
    assert re.match(r"\S+: error\[FAB[01][0-9][0-9]\]: .", messages[0])
    assert messages[1].startswith("    hint: ")


@pytest.mark.parametrize("words", REFUSED)
def test_options_of_another_question(run: Run, words: str) -> None:
    done = run(words)
    assert (done.code, done.out) == (2, "")
    assert re.search(r"No such option: --|Missing option '--job'", done.err)


def test_mistakes_as_they_are_read(run: Run) -> None:
    """All of them on one page."""
    page = []
    for words in MISTAKES:
        page.append(f"$ fabric {words}\n{run(words).err}")
    golden("cli/estimate-mistakes.txt", "\n".join(page))


def test_all_mistakes_of_the_options_at_once(run: Run) -> None:
    done = run("estimate site.yaml --size junk --routing ecpm --qps 1000 --min-ctas 0")
    assert done.code == 2
    assert done.err.count("error[") == 4


def test_a_fabric_without_gpus(run: Run, tmp_path: Path) -> None:
    (tmp_path / "disks.yaml").write_text(
        SITE[: SITE.index("  backend:")] + SITE[SITE.index("  storage:") :], encoding="utf-8"
    )
    done = run("estimate disks.yaml")
    assert (done.code, done.out) == (2, "")
    assert "error[FAB174]: fabric storage has no GPUs" in done.err


def test_all_leaves_of_a_rail_failed(run: Run) -> None:
    """Leaves 1 and 9 are rail 1: the other seven rails carry the job, and that is reported."""
    done = run("estimate site.yaml --size 1G --fail backend-leaf001 --fail backend-leaf009")
    assert (done.code, done.err) == (0, "")
    assert "7 NIC ports of 400G per domain" in done.out
    assert "1 of 8 NIC ports is left out in every domain" in done.out


def test_all_leaves_failed(run: Run) -> None:
    names = " ".join(f"--fail backend-leaf{at:03}" for at in range(1, 17))
    done = run(f"estimate site.yaml --size 1G {names}")
    assert (done.code, done.out) == (2, "")
    assert re.match(r"--fail: error\[FAB171\]: ", done.err)


def test_no_rail_is_left_in_all_servers(run: Run) -> None:
    """Half of the rails of one unit gone, and the other half of the other's."""
    names = " ".join(f"--fail backend-leaf{at:03}" for at in (1, 2, 3, 4, 13, 14, 15, 16))
    done = run(f"estimate site.yaml --size 1G {names}")
    assert (done.code, done.out) == (2, "")
    assert "no rail is left that is up in every server of the job" in done.err
