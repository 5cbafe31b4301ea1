"""Configs of the examples, loaded by the parser of FRR and checked for consistency."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

needs_vtysh = pytest.mark.skipif(
    shutil.which("vtysh") is None, reason="vtysh is not installed (Debian package frr; root can install it)"
)


@needs_vtysh
def test_frr_takes_every_line(examples: Path) -> None:
    files = sorted(examples.rglob("frr.conf"))
    assert len(files) > 300
    seen = 0
    for path in files:
        if "b200-3tier" in path.parts and hash_free(path) % 8:
            continue  # 320 alike: every eighth
        done = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), f"{path}: {done.stdout}{done.stderr}"
        seen += 1
    assert seen > 60


def hash_free(path: Path) -> int:
    """A number of a path that does not change from run to run."""
    return sum(path.parent.name.encode())


def test_every_key_that_sonic_references_is_defined(examples: Path) -> None:
    files = sorted(examples.rglob("config_db.json"))
    assert len(files) > 300
    for path in files:
        data = json.loads(path.read_text(encoding="utf-8"))
        ports = set(data["PORT"])
        assert {key.split("|")[0] for key in data["INTERFACE"]} <= ports
        assert all(key.split("|")[0] in data["INTERFACE"] for key in data["INTERFACE"])
        assert set(data["BREAKOUT_CFG"]) <= ports
        assert set(data["DEVICE_NEIGHBOR"]) <= ports
        assert set(data["CABLE_LENGTH"]["AZURE"]) == set(data["DEVICE_NEIGHBOR"])
        lanes = [lane for row in data["PORT"].values() for lane in row["lanes"].split(",")]
        assert len(lanes) == len(set(lanes))
        assert len({row["alias"] for row in data["PORT"].values()}) == len(ports)
        switches = {row["name"] for row in data["DEVICE_NEIGHBOR"].values()}
        assert set(data.get("DEVICE_NEIGHBOR_METADATA", {})) <= switches
        for table in ("LOOPBACK_INTERFACE", "MGMT_INTERFACE"):
            assert all(key.split("|")[0] in (*data[table], *data.get("MGMT_PORT", {})) for key in data[table])
        assert data["DEVICE_METADATA"]["localhost"]["docker_routing_config_mode"] == "split-unified"
        values = [value for rows in data.values() for row in rows.values() for value in row.values()]
        # Everything is a string but what the YANG models call a leaf-list.
        assert all(isinstance(item, str) for value in values for item in (value if isinstance(value, list) else [value]))


def test_both_ends_of_a_link_name_each_other(examples: Path) -> None:
    """Of every SONiC fabric: what a port's neighbor says of the port's own name."""
    for site in ("starter", "gb300-twin-plane"):
        neighbors = {
            path.parent.name: json.loads(path.read_text(encoding="utf-8"))["DEVICE_NEIGHBOR"]
            for path in (examples / site).rglob("config_db.json")
        }
        for device, rows in neighbors.items():
            for port, row in rows.items():
                if row["name"] in neighbors:
                    assert neighbors[row["name"]][row["port"]] == {"name": device, "port": port}


REFERENCE = re.compile(r"\$\{[A-Z][A-Z0-9_]*\}")
# A hash as crypt(3) and network OSes write it, a key, a community, or anything but a reference after the word.
SECRET = re.compile(
    r"\$(1|5|6|y|2[aby]|8|9|14)\$|private key|community public|\brocommunity\b"
    r"|\b(password|secret)\b[\"':= ]+(?!sha512\b)(?=\S*\d)[^\s<]{4,}",
    re.IGNORECASE,
)


def test_no_config_holds_a_secret(examples: Path) -> None:
    """References such as `${ADMIN_PASSWORD_HASH}` stand where a secret belongs; what stands there instead is found."""
    assert SECRET.search("username admin secret sha512 $6$salt$hash")
    assert SECRET.search('"password": "hunter2"')
    for path in examples.rglob("configs/*/*"):
        text = REFERENCE.sub("<reference>", path.read_text(encoding="utf-8"))
        found = SECRET.search(text)
        assert found is None, f"{path}: {found[0]}"
