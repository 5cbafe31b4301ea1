"""`fabric init`: every flag, what it writes, and that what it writes can be planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Run
from tests.goldens import golden

# flags → what `plan --json` then says (dotted keys of the fabric)
FLAGS: dict[str, dict[str, Any]] = {
    "": {"servers": 8, "gpus": 64, "tiers": 1, "switches.leaf": 1, "switches.spine": 0},
    "--server dgx-a100": {"ports.leaf.down_speed_gbps": 200},
    "--servers 40": {"servers": 40, "links.server-leaf": 320},
    "--topology rack --servers 16 --servers-per-rack 4": {"kind": "rack", "unit.servers": 4, "switches.leaf": 4},
    "--gpus-per-server 4": {"gpus": 32, "links.server-leaf": 64},
    "--gpus-per-server 0": {"gpus": 0},
    "--nics-per-server 4 --tiers 2": {"gpus": 32, "unit.leaves": 4},
    "--nic-ports 2x200": {"ports.leaf.down_speed_gbps": 200, "links.server-leaf": 128},
    "--nic-ports 2x200 --server mine": {"links.server-leaf": 128},
    "--switch 64x400g": {"tiers": 1, "models.leaf": "64x400g", "ports.leaf.down": 64},
    "--leaf 64x400g --spine 32x400g": {"models.leaf": "64x400g", "models.spine": "32x400g"},
    "--switch 64x400g --spine 32x400g": {"models.leaf": "64x400g", "models.spine": "32x400g"},
    "--tiers 3 --switch 64x400g --core 128x400g": {"tiers": 3, "models.core": "128x400g"},
    "--topology rail-only --servers 64 --unit 32": {"kind": "rail-only", "switches.leaf": 16},
    "--topology collapsed": {"tiers": 1, "switches.leaf": 2, "switches.spine": 0},
    "--unit 4": {"units": 2, "unit.servers": 4},
    "--scalable-unit 4": {"units": 2, "unit.servers": 4},
    "--tiers 1": {"tiers": 1, "switches.leaf": 1},
    "--tiers 2": {"tiers": 2, "switches.leaf": 8},
    "--tiers 3 --servers 64 --unit 8 --pods 2": {"pods.count": 2},
    "--tiers 3 --servers 64 --unit 8 --pods units=2": {"pods.count": 4, "pods.units": 2},
    "--topology rack --tiers 3 --servers 64 --servers-per-rack 4 --pods racks=4": {"pods.count": 4, "pods.leaves": 4},
    "--planes 2 --nic-ports 2x400": {"planes": 2, "switches.leaf": 2, "switches.spine": 0},
    "--planes 2 --nic-ports 2x400 --tiers 2": {"planes": 2, "switches.leaf": 16},
    "--dual-tor --nic-ports 2x400": {"planes": 1, "switches.leaf": 2, "switches.spine": 0},
    "--dual-tor --nic-ports 2x400 --tiers 2": {"planes": 1, "switches.leaf": 16},
    "--oversubscription 2 --unit 8": {"oversubscription.leaf": 2.0, "ports.leaf.up": 2},
    "--oversubscription 1,2 --tiers 3 --switch 64x400g --servers 256 --unit 32 --pods units=2": {
        "oversubscription.leaf": 1.0,
        "oversubscription.spine": 1.4545,  # 32 down, 22 up: the ceiling is 2
    },
    "--uplinks 8": {"ports.leaf.up": 8},
    "--uplinks 16@400": {"ports.leaf.up": 16, "ports.leaf.up_speed_gbps": 400},
    "--spines 4": {"switches.spine": 4},
    "--spines 0": {"switches.spine": 0, "switches.leaf": 1},
    "--tiers 3 --switch 64x400g --unit 32 --servers 64 --spines 32 --cores 64": {"switches.spine": 32, "switches.core": 64},
    "--spare 4 --unit 8": {"ports.leaf.down": 8},
    "--planned-servers 128 --unit 8": {"servers": 8, "planned.servers": 128},
    "--nos eos --switch 7060x6-64pe": {"models.leaf": "7060x6-64pe"},
    "--nos eos": {"models.leaf": "7060x6-64de"},
    "--nos junos": {"models.leaf": "qfx5240-64od"},
    "--nos cumulus": {"models.leaf": "sn5600"},
    "--servers 127 --unit 32 --switch qm9700": {"switches.leaf": 32, "switches.spine": 16, "bgp.sessions": 0},  # RA-11333
    "--servers 1024 --gpus-per-server 8 --nics-per-server 8 --nic-ports 2x200 --planes 2 --unit 64 --switch sn5600 "
    "--oversubscription 2": {"gpus": 8192, "switches.leaf": 256, "oversubscription.leaf": 2.0},
}


def dig(data: Any, key: str) -> Any:
    for part in key.split("."):
        data = data[part]
    return data


@pytest.mark.parametrize("flags", FLAGS)
def test_flags_become_a_plan(flags: str, run: Run) -> None:
    done = run(f"init dc1 {flags}")
    assert (done.code, done.err) == (0, "")
    Path("dc1.yaml").write_text(done.out, encoding="utf-8")
    assert run("plan dc1.yaml").code == 0
    plan = run("plan dc1.yaml --json")
    assert plan.code == 0, plan.err
    fabric = json.loads(plan.out)["fabrics"]["backend"]
    assert {key: dig(fabric, key) for key in FLAGS[flags]} == FLAGS[flags]


def test_every_flag_of_the_help_is_tried_here(run: Run) -> None:
    words = run("init --help").out.replace(",", " ").split()
    reported = {word for word in words if word.startswith("--")} - {"--help", "--output"}
    assert reported == {word for flags in FLAGS for word in flags.split() if word.startswith("--")}


REFUSED = [
    ("--bogus", "No such option"),
    ("--servers many", "valid integer"),
    ("--servers 0", "expected at least 1, got 0"),
    ("--servers -3", "expected at least 1, got -3"),
    ("--unit 0", "expected at least 1, got 0"),
    ("--cores 0", "expected at least 1, got 0"),
    ("--planned-servers 0", "expected at least 1, got 0"),
    ("--servers-per-rack 0", "expected at least 1, got 0"),
    ("--nics-per-server 0", "expected at least 1, got 0"),
    ("--gpus-per-server -1", "expected at least 0, got -1"),
    ("--spare -1", "expected at least 0, got -1"),
    ("--server dgx-h10", "did you mean 'dgx-h100'?"),
    ("--switch sn5601", "did you mean 'sn5600'?"),
    ("--switch 123", "unknown switch model '123'"),
    ("--topology mesh", "expected one of rail-optimized, rack, rail-only, collapsed, back-to-back, ring, got 'mesh'"),
    ("--tiers 4", "expected one of auto, 1, 2, 3, got 4"),
    ("--pods many", "expected a whole number, got 'many'"),
    ("--pods rows=3", "unknown key 'rows'"),
    ("--planes 2", "expected a divisor of the 1 port of a NIC of dgx-h100, got 2"),
    ("--nic-ports 400", "--nic-ports: error[FAB104]: expected 2x400, got '400'"),
    ("--uplinks 8@", "--uplinks: error[FAB104]: expected 32 or 32@800, got '8@'"),
    ("--oversubscription 3:1", "--oversubscription: error[FAB104]: expected 3 or 1,7, got '3:1'"),
    ("--oversubscription 1,2,3", "--oversubscription: error[FAB104]: expected 3 or 1,7, got '1,2,3'"),
    ("--oversubscription 0", "expected more than 0, got 0"),
    ("--spines 3", "nearest valid: 4"),
    ("--planned-servers 3", "expected at least 8, the current number of servers, got 3"),
    ("--nos eos --switch sn5600", "--switch: error[FAB161]: sn5600: it runs sonic, cumulus, not EOS"),
    ("--nos eos --switch 64x800g --spine sn5600", "--spine: error[FAB161]: sn5600: it runs sonic, cumulus, not EOS"),
    ("--nos ios", "--nos: error[FAB104]: expected one of cumulus, eos, frr, junos, nxos, sonic, got 'ios'"),
]


@pytest.mark.parametrize(("flags", "words"), REFUSED, ids=[flags for flags, _ in REFUSED])
def test_bad_flags_are_refused(flags: str, words: str, run: Run) -> None:
    done = run(f"init dc1 {flags} -o dc1.yaml")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not Path("dc1.yaml").exists()
    named = {line.partition(":")[0] for line in done.err.splitlines() if "error[FAB" in line}
    assert named <= {
        word for word in flags.split() if word.startswith("--")
    }  # a flag, not a line of a file that is not there


# Server of the catalog and flags → what of its entry changes; everything else stays.
KEPT: dict[str, dict[str, Any]] = {
    "dgx-b300 --nic-ports 2x400": {"nics.compute.ports": 2, "nics.compute.speed_gbps": 400},
    "dgx-b300 --nic-ports 1x800": {},
    "dgx-h100 --nics-per-server 8 --gpus-per-server 8": {},
    "dgx-h100 --nics-per-server 4": {
        "nics.compute.count": 4,
        "nics.compute.interfaces": None,  # one name for each port
        "nics.compute.rdma_devices": None,
        "nics.compute.cages": None,
    },
    "dgx-b300 --nic-ports 2x800": {"nics.compute.ports": 2, "nics.compute.model": None},  # no ConnectX-8 has so much
    "gb200-tray --planes 2 --nic-ports 2x200": {"nics.compute.ports": 2, "nics.compute.speed_gbps": 200},
    "dgx-b300 --gpus-per-server 4": {
        "gpus": 4,
        "nvlink_domain_gpus": 4,
        "description": None,
        "power_typical_w": None,
        "power_source": None,  # those of eight GPUs
    },
}


def flat(data: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found = {}
    for key, value in data.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


@pytest.mark.parametrize("flags", KEPT)
def test_a_server_of_the_catalog_keeps_what_the_catalog_knows(flags: str, run: Run) -> None:
    name = flags.split()[0]
    done = run(f"init dc1 --server {flags}")
    assert (done.code, done.err) == (0, "")
    own = flat(yaml.safe_load(done.out)["catalog"]["servers"][name])
    shipped = flat(yaml.safe_load(run(f"catalog {name}").out)["catalog"]["servers"][name])
    changed = {key: own.get(key) for key in own.keys() | shipped.keys() if own.get(key) != shipped.get(key)}
    assert changed == KEPT[flags]
    Path("dc1.yaml").write_text(done.out, encoding="utf-8")
    assert run("plan dc1.yaml").code == 0


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        ("--planes 2 --server dgx-h100", "add `--nic-ports 2x200`"),
        ("--dual-tor", "add `--nic-ports 2x200`"),
        ("--planes 3", "each plane takes the same number of ports"),
        ("--planes 3 --nic-ports 2x400", "each plane takes the same number of ports"),
    ],
)
def test_planes_name_the_ports_that_they_need(flags: str, hint: str, run: Run) -> None:
    done = run(f"init dc1 {flags}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"{'--dual-tor' if 'dual' in flags else '--planes'}: error[FAB109]: ")
    assert hint in done.err


@pytest.mark.parametrize("flag", ["--planes 2", "--dual-tor"])
def test_a_nic_that_the_catalog_splits(flag: str, run: Run) -> None:
    """A ConnectX-8 is two ports of 400G where it must be."""
    done = run(f"init dc1 {flag} --server dgx-b300")
    assert (done.code, done.err) == (0, "")
    Path("dc1.yaml").write_text(done.out, encoding="utf-8")
    ports = json.loads(run("plan dc1.yaml --json").out)["fabrics"]["backend"]["ports"]
    assert ports["leaf"]["down_speed_gbps"] == 400


@pytest.mark.parametrize("name", ["123", "null", "true", "yes", "off", "1e3", "0x10", "0o17", "2024-01-01", "NULL", "dc1"])
def test_a_name_stays_text(name: str, run: Run) -> None:
    done = run("init", name, "--server", name, "--nic-ports", "1x400")
    assert done.code == 0, done.err
    data = yaml.safe_load(done.out)
    assert data["site"] == name
    assert [*data["catalog"]["servers"]] == [data["fabrics"]["backend"]["servers"]["model"]] == [name]
    Path("intent.yaml").write_text(done.out, encoding="utf-8")
    assert json.loads(run("plan intent.yaml --json").out)["site"] == name


@pytest.mark.parametrize("name", ["", "a b", "a:b", "../up", "a\nb", "x: {y: 1}", "-", ".", "1.5", "a_b", "ü", "x" * 33])
def test_a_name_that_no_site_can_have_is_refused(name: str, run: Run) -> None:
    done = run("init", "--", name)
    assert (done.code, done.out) == (2, "")
    assert "error[FAB10" in done.err


def test_a_file_that_is_there_stays(run: Run) -> None:
    first = run("init dc1 -o sites/dc1.yaml")
    assert (first.code, first.out) == (0, "")
    assert first.err == (
        "sites/fabric.schema.json written, for completion and validation in editors\n"
        "sites/dc1.yaml written; next: fabric plan sites/dc1.yaml\n"
    )
    before = Path("sites/dc1.yaml").read_bytes()
    again = run("init dc2 -o sites/dc1.yaml")
    assert (again.code, again.err) == (2, "fabric: sites/dc1.yaml: file exists\n")
    assert Path("sites/dc1.yaml").read_bytes() == before


def test_what_it_writes(run: Run) -> None:
    golden("cli/init-short.yaml", run("init dc1").out)
    golden(
        "cli/init-long.yaml",
        run(
            "init dc1 --servers 1024 --servers-per-rack 4 --gpus-per-server 8 --nics-per-server 8 --nic-ports 2x200"
            " --planes 2 --unit 64 --leaf sn5600 --spine sn5600 --core sn5600 --tiers 3 --pods units=4 --oversubscription 2,1"
            " --planned-servers 2048 --nos sonic --spare 2"
        ).out,
    )


def test_the_schema_that_a_file_names_is_there(run: Run) -> None:
    """The first line sends an editor to a file: it is written with the intent, never over one, and left out without."""
    head = "# yaml-language-server: $schema=fabric.schema.json"
    assert head not in run("init dc1").out
    run("init dc1 -o dc1.yaml")
    assert Path("dc1.yaml").read_text(encoding="utf-8").startswith(head)
    assert Path("fabric.schema.json").read_text(encoding="utf-8") == run("schema").out
    Path("fabric.schema.json").write_text("{}\n", encoding="utf-8")
    assert run("init dc2 -o dc2.yaml").err == "dc2.yaml written; next: fabric plan dc2.yaml\n"
    assert Path("fabric.schema.json").read_text(encoding="utf-8") == "{}\n"
    assert run("init dc1").out.startswith(head)
