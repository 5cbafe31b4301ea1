"""Recipes that collect state: what they type is shown only, and what they are is valid."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fabric.deliver.export.collect import recipe
from fabric.nos.state.records import KINDS
from fabric.nos.target import target_names
from tests.deliver.export.test_anta import exported

OWN = [name for name in target_names() if recipe(name) is not None]
READS = re.compile(
    r"show |sudo vtysh -c 'show |ip -j |sudo lldpctl |sudo docker exec lldp lldpctl |sonic-db-dump -n |nv show "
)


@pytest.mark.parametrize("name", OWN)
def test_commands_only_show(name: str) -> None:
    found = recipe(name)
    assert found is not None
    assert all(READS.match(one.command) and ";" not in one.command for one in found.commands)
    assert len({one.file for one in found.commands}) == len(found.commands)
    kinds = {kind for one in found.commands for kind in one.kinds}
    assert kinds <= set(KINDS)
    assert {"bgp", "lldp", "interfaces", "routes", "evpn", "errors"} <= kinds


@pytest.mark.parametrize("site", ["ai-eos", "ai-sonic", "ai-junos", "evpn-lab"])
def test_the_files_are_valid(site: str) -> None:
    files = exported(site, "collect")
    subprocess.run(["sh", "-n"], input=files["collect.sh"], text=True, check=True)
    ast.parse(files["collect.py"])
    (play,) = yaml.safe_load(files["collect.yml"])
    commands = json.loads(files["commands.json"])
    assert {row["file"]: row["command"] for row in play["vars"]["commands"]} == next(iter(commands.values()))


NETCOMMON = "collections/ansible_collections/ansible/netcommon/plugins/modules/cli_command.py"


@pytest.mark.parametrize("site", ["ai-eos", "evpn-lab"])
def test_ansible_takes_the_playbook(site: str, tmp_path: Path) -> None:
    """With a stand-in for the module of ansible.netcommon, which is installed apart."""
    program = Path(sys.executable).with_name("ansible-playbook")
    if not program.exists():
        pytest.skip("ansible-core is not installed")
    (tmp_path / NETCOMMON).parent.mkdir(parents=True)
    (tmp_path / NETCOMMON).write_text('DOCUMENTATION = "module: cli_command"\n', encoding="utf-8")
    (tmp_path / "collect.yml").write_text(exported(site, "collect")["collect.yml"], encoding="utf-8")
    settings = os.environ | {"ANSIBLE_COLLECTIONS_PATH": str(tmp_path / "collections"), "HOME": str(tmp_path)}
    command = [str(program), "--syntax-check", "-i", "localhost,", "collect.yml"]
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "playbook: collect.yml"), done.stderr
