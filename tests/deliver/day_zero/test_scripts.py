"""The scripts of every network OS against a real HTTP server, with stubs for the commands that need the switch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.deliver.day_zero.network import SERVER, require, run
from tests.deliver.day_zero.sites import BY_MAC, IMAGE, MACS, SERIALS, SITE, exported, write

SECRETS = {"ADMIN_PASSWORD_HASH": "$6$salt$hash", "SNMP_AUTH_KEY": "authauth", "SNMP_PRIV_KEY": "privpriv"}
# Runs the sections of a ztp.json as SONiC's service does: in the order of their names, until one fails.
SECTIONS = """
import json, shutil, subprocess, sys, urllib.request
def get(url, path):
    with urllib.request.urlopen(url) as answer, open(path, "wb") as stream:
        shutil.copyfileobj(answer, stream)
for name, section in sorted(json.load(urllib.request.urlopen(sys.argv[1]))["ztp"].items()):
    if "plugin" in section:
        get(section["plugin"]["url"], "/plugin")
        if subprocess.call(["bash", "/plugin"]):
            sys.exit("%s fails" % name)
    elif "install" in section and section["install"]["version"] not in subprocess.getoutput("sonic-installer list"):
        get(section["install"]["url"], "/installed")
    for one in section.get("files", [section] if "url" in section else []):
        get(one["url"]["source"], one["url"]["destination"])
"""
CLI = """
import shutil, urllib.request
def cli(command):
    with open("/log", "a") as log:
        log.write(command + "\\n")
    words = command.split()
    if "http" in command:
        with urllib.request.urlopen(words[4]) as answer, open("/bootflash/" + words[5][10:], "wb") as stream:
            shutil.copyfileobj(answer, stream)
    if words[-1] == "scheduled-config":
        shutil.copy("/bootflash/day-zero.cfg", "/scheduled")
    return "Software\\n  NXOS: version @RELEASE\\n" if command == "show version" else ""
"""
VERSION = """cat <<X
Arista DCS-7060X6-64PE
Serial number: @SERIAL
Software image version: @RELEASE
X
"""
JUNOS = """case "$2" in
"show chassis hardware") echo "Chassis                                @SERIAL             QFX5240-64OD" ;;
*media) echo "  Current address: @MAC, Hardware address: @MAC" ;;
"show version") echo "Junos: @RELEASE" ;;
*load*) cp /var/tmp/day-zero.conf /loaded ;;
*host-name) echo "host-name junos-leaf001;" ;;
esac
"""
LINUX = dict.fromkeys(("apt-get", "useradd", "sysctl", "ifreload", "systemctl", "hostname", "chown"), "")
SONIC = {
    "decode-syseeprom": "echo @SERIAL",
    "sonic-installer": "echo Current: @RELEASE",
    "chpasswd": "cat > /passwords",
    "sonic-cfggen": 'case "$*" in *--var-json*) echo "{}" ;; *) cat /run/day-zero.json ;; esac',
}
CUMULUS = {
    "decode-syseeprom": "echo @SERIAL",
    "nv": '[ "$2" != replace ] || cp "$3" /applied',
    "onie-install": 'cp "$3" /installed',
    "reboot": "",
}

EXTENSION = "mnt/flash/.extensions/agent.rpm"
# Network OS → its management port, stubs, files of its root, command, what it leaves, release that runs
Recipe = tuple[str, dict[str, str], dict[str, str], str, dict[str, str], str]
RECIPES: dict[str, Recipe] = {
    "sonic": (
        *("eth0", SONIC, {"run.py": SECTIONS, "etc/sonic/snmp.yml": "snmp_rocommunity: public\nsnmp_location: x\n"}),
        *("mkdir -p /etc/sonic/frr /host; /usr/bin/python3 /run.py @URL/ztp.json",),
        *({"etc/sonic/config_db.json": "config_db.json", "etc/sonic/frr/frr.conf": "frr.conf"}, "SONiC-OS-202505.1"),
    ),
    "cumulus": (
        *("eth0", CUMULUS, {"etc/lsb-release": 'DISTRIB_RELEASE="@RELEASE"\n'}, "curl -fs @URL/ztp.sh | bash"),
        *({"applied": "startup.yaml"}, "5.15.0"),
    ),
    "eos": (
        *("ma1", {"FastCli": VERSION}, {}, "mkdir -p /mnt/flash; curl -fs @URL/bootstrap.sh | bash"),
        *({"mnt/flash/startup-config": "startup-config"}, "4.34.1F"),
    ),
    "nxos": (
        *("eth0", {}, {"stubs/cli.py": CLI}),
        "mkdir /bootflash; curl -fs -o /poap.py @URL/poap.py; PYTHONPATH=/stubs /usr/bin/python3 /poap.py",
        *({"scheduled": "startup-config"}, "10.5(3)"),
    ),
    "junos": ("eth0", {"cli": JUNOS}, {}, "curl -fs @URL/ztp.sh | sh", {"loaded": "juniper.conf"}, "24.4R1-EVO"),
    "frr": (
        *("eth0", LINUX | {"id": "exit 1", "chpasswd": "cat > /passwords"}, {}, "curl -fs @URL/user-data | sh"),
        {"etc/frr/frr.conf": "frr.conf", "etc/network/interfaces": "interfaces", "etc/snmp/snmpd.conf": "snmpd.conf"},
        "",
    ),
}


def request(name: str, serial: str = "", release: str = "", mac: str = "") -> dict[str, Any]:
    """What `network` runs: on the switch of a network OS, or on one with another serial number, release or MAC address."""
    port, stubs, files, command, left, planned = RECIPES[name]
    switch = f"{name}-leaf001"
    mac, serial, release = mac or MACS[switch], serial or SERIALS[switch], release or planned
    url = f"http://{SERVER}:8080/switches/{switch}.{MACS[switch].replace(':', '')}"

    def known(text: str) -> str:
        for word, value in (("@SERIAL", serial), ("@RELEASE", release), ("@MAC", mac), ("@URL", url)):
            text = text.replace(word, value)
        return text

    return {
        "mac": mac,
        "port": port,
        "stubs": {stub: known(body) for stub, body in stubs.items()},
        "files": {path: known(text) for path, text in files.items()},
        "command": f"sh -c '{known(command)}'",
        "env": {"POAP_SERIAL": serial, "POAP_MGMT_MAC": mac.upper(), "POAP_VRF": "management"} if name == "nxos" else {},
        "read": [*left, "passwords", "installed", "etc/sonic/snmp.yml", "mnt/flash/boot-extensions", EXTENSION],
    }


CASES = {
    **{name: request(name) for name in RECIPES},
    **{f"{name} on another switch": request(name, serial="OTHER1", mac="52:54:00:00:09:09") for name in RECIPES},
    **{f"{name} upgrade": request(name, release="1.0") for name in ("sonic", "cumulus", "eos", "nxos", "junos")},
}


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    """What every case left, and the files that the server had."""
    require("curl", "ss", "python3")
    return _served()


@cache
def _served() -> dict[str, Any]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        tree = filled(folder)
        done = run({"tree": str(tree), "scripts": list(CASES.values())})
        files = {str(path.relative_to(tree)): path.read_text(encoding="utf-8") for path in tree.rglob("*") if path.is_file()}
    return {"cases": dict(zip(CASES, done, strict=True)), "files": files}


def filled(folder: Path) -> Path:
    """The tree as `fill.py` writes it."""
    write(exported(SITE, BY_MAC, folder), folder / "out")
    images = folder / "images"
    images.mkdir()
    for name in ("sonic.bin", "cumulus.bin", "EOS.swi", "nxos64-cs.10.5.3.bin", "junos.iso", "agent.rpm"):
        (images / name).write_bytes(IMAGE)
    assert fill(folder, SECRETS) == (0, "")
    return folder / "served"


def fill(folder: Path, secrets: dict[str, str]) -> tuple[int, str]:
    """Exit code and messages of `fill.py`."""
    command = [sys.executable, str(folder / "out" / "fill.py"), str(folder / "images"), str(folder / "served")]
    environment = {key: value for key, value in os.environ.items() if key not in SECRETS} | secrets
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stderr.replace(str(folder), "")


@pytest.mark.parametrize("name", RECIPES)
def test_a_switch_loads_its_configuration(name: str, served: dict[str, Any]) -> None:
    case = served["cases"][name]
    assert (case["code"], case["stderr"]) == (0, "")
    folder = f"switches/{name}-leaf001.{MACS[f'{name}-leaf001'].replace(':', '')}"
    for path, source in RECIPES[name][4].items():
        assert case["files"][path] == served["files"][f"{folder}/{source}"], path
        assert "${" not in case["files"][path]
    assert "installed" not in case["files"] or name == "sonic"


@pytest.mark.parametrize("name", RECIPES)
def test_another_switch_loads_nothing(name: str, served: dict[str, Any]) -> None:
    case = served["cases"][f"{name} on another switch"]
    assert case["code"] != 0
    assert "this is another switch" in case["stderr"]
    assert not {path for path in RECIPES[name][4] if path in case["files"]} - {"etc/network/interfaces", "etc/frr/frr.conf"}


@pytest.mark.parametrize("name", ["cumulus", "eos", "nxos"])
def test_an_image_is_installed_with_its_checksum(name: str, served: dict[str, Any]) -> None:
    case = served["cases"][f"{name} upgrade"]
    assert (case["code"], case["stderr"]) == (0, "")
    log = case["files"]["log"]
    command = {
        "cumulus": r"onie-install -fa -i /tmp/tmp\.\w+/cumulus\.bin -z http://172\.16\.0\.200:8080/switches/",
        "eos": r"boot system flash:EOS\.swi",
        "nxos": r"config terminal ; boot nxos bootflash:nxos64-cs\.10\.5\.3\.bin",
    }[name]
    assert re.search(command, log)
    assert ("applied" in case["files"]) is False
    if name == "nxos":  # the configuration has no line of its own for the image
        assert case["files"]["scheduled"].endswith("\nboot nxos bootflash:nxos64-cs.10.5.3.bin\n")


def test_eos_loads_its_extensions(served: dict[str, Any]) -> None:
    files = served["cases"]["eos"]["files"]
    assert (files["mnt/flash/boot-extensions"], files[EXTENSION]) == ("agent.rpm\n", IMAGE.decode())


def test_sonic_installs_its_image_before_it_loads_its_tables(served: dict[str, Any]) -> None:
    case = served["cases"]["sonic upgrade"]
    assert (case["code"], case["stderr"], case["files"]["installed"]) == (0, "", IMAGE.decode())
    assert case["files"]["passwords"] == "admin:$6$salt$hash\n"
    assert case["files"]["etc/sonic/snmp.yml"] == "snmp_location: x\n"


def test_junos_refuses_another_release_than_its_image(served: dict[str, Any]) -> None:
    case = served["cases"]["junos upgrade"]
    assert (case["code"], case["stderr"]) == (1, "day zero of junos-leaf001: expected release 24.4R1-EVO, got 1.0\n")


# --- What fills the tree --------------------------------------------------------------------------------------


def test_a_tree_is_filled_whole_or_not_at_all(tmp_path: Path) -> None:
    write(exported(SITE, BY_MAC, tmp_path), tmp_path / "out")
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "sonic.bin").write_bytes(b"another\n")
    code, text = fill(tmp_path, {**SECRETS, "SNMP_AUTH_KEY": "", "SNMP_PRIV_KEY": 'a"b'})
    assert code == 1
    assert text.splitlines()[:3] == [
        "fill.py: secret SNMP_AUTH_KEY: expected an environment variable of that name, got none",
        "fill.py: secret SNMP_PRIV_KEY: expected printable ASCII without quotes and backslashes",
        "fill.py: image EOS.swi: No such file or directory",
    ]
    assert "fill.py: image sonic.bin: expected SHA-256 " in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images", "inventory.csv", "out"]


def test_a_tree_does_not_replace_another_one(tmp_path: Path) -> None:
    filled(tmp_path)
    assert fill(tmp_path, SECRETS) == (1, "fill.py: /served exists: name a new folder\n")
    assert sorted(path.name for path in (tmp_path / "served").iterdir()) == ["images", "switches"]
