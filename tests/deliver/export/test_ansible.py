"""The Ansible inventory, read by ansible-inventory where ansible-core is installed, else by the rules of its format."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric.deliver.export.ansible import ansible, group_name
from fabric.model.plan import ATTACHED, SERVER
from tests.deliver.export.plans import DESIGNS, plan
from tests.goldens import golden

GROUP = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # anything else is replaced by Ansible, with a warning


def read(design: str) -> dict[str, Any]:
    made: dict[str, Any] = yaml.load(ansible(plan(design)), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert set(made) == {"all"}
    return made["all"]


@pytest.mark.parametrize("design", DESIGNS)
def test_every_switch_and_server_is_a_host_in_its_groups(design: str) -> None:
    made, inventory = plan(design), read(design)
    groups = {name: set(group["hosts"]) for name, group in inventory["children"].items()}
    assert all(GROUP.fullmatch(name) for name in groups)
    hosts = inventory["hosts"]
    expected = {d.name for fabric in made.fabrics.values() for d in fabric.devices if d.role != ATTACHED}
    assert set(hosts) == groups[group_name(f"site_{made.site}")] == expected
    for name, fabric in made.fabrics.items():
        for device in fabric.devices:
            if device.role == ATTACHED:
                continue
            assert device.name in groups[f"fabric_{group_name(name)}"]
            if device.role == SERVER:
                assert device.name in groups["servers"]
            elif device.nos:
                assert device.name in groups[f"nos_{device.nos}"] & groups["switches"]
                assert hosts[device.name].get("asn", 0) == device.asn


def test_addresses_and_numbers_are_those_of_the_switch() -> None:
    host = read("lab")["hosts"]["backend-leaf002"]
    assert host == {
        "ansible_host": "192.0.2.5",
        "fabric": "backend",
        "tier": "leaf",
        "model": "16x400g",
        "asn": 65003,
        "loopback": "10.255.0.4",
        "unit": 1,
        "plane": 1,
        "rail": 2,
    }


def test_what_there_is_once_is_no_group() -> None:
    assert not any("_pod" in name or "_plane" in name for name in read("rails")["children"])
    assert {"f_pod1", "f_pod2"} <= set(read("three-tiers")["children"])
    assert {"f_plane1", "f_plane2"} <= set(read("planes")["children"])


@pytest.mark.parametrize("design", ["ai-eos", "names"])
def test_ansible_inventory_reads_it(design: str, tmp_path: Path) -> None:
    tool = shutil.which("ansible-inventory") or shutil.which("ansible-inventory", path=str(Path(sys.executable).parent))
    if tool is None:
        pytest.skip("ansible-inventory (ansible-core) is not installed")
    file = tmp_path / "inventory.yml"
    file.write_text(ansible(plan(design)), encoding="utf-8")
    environment = {**os.environ, "ANSIBLE_LOCAL_TEMP": str(tmp_path), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    asked = subprocess.run([tool, "-i", str(file), "--list"], capture_output=True, text=True, env=environment)
    assert asked.returncode == 0, asked.stderr
    assert "WARNING" not in asked.stderr
    shown = json.loads(asked.stdout)
    ours = read(design)
    assert set(shown["_meta"]["hostvars"]) == set(ours["hosts"])
    for name, facts in ours["hosts"].items():
        assert facts.items() <= shown["_meta"]["hostvars"][name].items()
    for name, group in ours["children"].items():
        assert set(shown[name]["hosts"]) == set(group["hosts"])
    if design == "ai-eos":
        assert shown["_meta"]["hostvars"]["backend-leaf001"]["ansible_network_os"] == "arista.eos.eos"


def test_golden() -> None:
    golden("export/ansible/lab.yml", ansible(plan("lab")))
