"""The exported folder: what is in it, for which switch, and that no text of it becomes syntax."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabric.base.diagnostics import InputError
from fabric.deliver.export.formats import unsupported
from fabric.nos.target import target
from tests.deliver.day_zero.sites import BY_MAC, CIRCUITS, MACS, SERIALS, SHA256, SITE, exported, planned, write

URL = "http://172.16.0.200:8080"
# Files beside those that `fabric generate` writes.
OWN = {
    "sonic": ["accounts", "complete.sh", "identity.sh", "image.sh", "ztp.json"],
    "cumulus": ["ztp.sh"],
    "eos": ["bootstrap.sh"],
    "nxos": ["poap.py"],
    "junos": ["ztp.sh"],
    "frr": ["meta-data", "user-data", "vendor-data"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return exported(SITE, BY_MAC, tmp_path_factory.mktemp("inventory"))


def folder(name: str) -> str:
    return f"http/switches/{name}-leaf001.{MACS[f'{name}-leaf001'].replace(':', '')}"


def test_a_folder_for_every_switch_with_a_configuration(files: dict[str, str]) -> None:
    found: dict[str, list[str]] = {}
    for path in files:
        found.setdefault(str(Path(path).parent), []).append(Path(path).name)
    assert sorted(found.pop(".")) == ["dnsmasq.conf", "fill.json", "fill.py", "kea-dhcp4.conf"]
    assert sorted(found) == sorted(map(folder, OWN))
    for name, own in OWN.items():
        configs = {"sonic": {"config_db.json", "frr.conf"}, "cumulus": {"startup.yaml"}, "junos": {"juniper.conf"}}
        planned_files = configs.get(name, {"startup-config"} if name != "frr" else set())
        assert set(own) <= set(found[folder(name)])
        assert planned_files <= set(found[folder(name)]) or name == "frr"
        assert all(
            name == other
            or SERIALS[f"{other}-leaf001"]
            not in "".join(text for path, text in files.items() if path.startswith(folder(name)))
            for other in OWN
            if other != "frr"
        )


def test_every_switch_has_one_address_and_no_other_client_has_one(files: dict[str, str]) -> None:
    server = json.loads(files["kea-dhcp4.conf"])["Dhcp4"]
    (subnet,) = server["subnet4"]
    pools = {pool["client-class"]: pool["pool"] for pool in subnet["pools"]}
    assert set(pools) == set(MACS)
    assert len(set(pools.values())) == len(MACS)
    assert all(first == last for first, last in (pool.split(" - ") for pool in pools.values()))
    assert "reservations" not in subnet
    options = {one["name"]: {o["code"]: o["data"] for o in one.get("option-data", ())} for one in server["client-classes"]}
    assert options["nxos-leaf001 files"] == {66: URL, 67: f"{folder('nxos').removeprefix('http')}/poap.py"}
    ranges = re.findall(r"^dhcp-range=tag:(\S+?),(\S+?),(\S+?),", files["dnsmasq.conf"], re.M)
    assert {name: f"{first} - {last}" for name, first, last in ranges} == pools


def test_fill_json_has_the_secrets_and_images(files: dict[str, str]) -> None:
    todo = json.loads(files["fill.json"])
    assert todo["secrets"] == ["ADMIN_PASSWORD_HASH", "SNMP_AUTH_KEY", "SNMP_PRIV_KEY"]
    assert set(todo["images"]) == {"sonic.bin", "cumulus.bin", "EOS.swi", "nxos64-cs.10.5.3.bin", "junos.iso", "agent.rpm"}
    assert set(todo["images"].values()) == {SHA256}
    with_reference = {path.removeprefix("http/") for path, text in files.items() if "${ADMIN_PASSWORD_HASH}" in text}
    assert with_reference <= set(todo["files"]) <= {path.removeprefix("http/") for path in files}


# --- Files of the network OSes --------------------------------------------------------------------------------

# sonic-net/SONiC doc/ztp/ztp.md, "Available Plugins and Configuration Sections", and the plugins of sonic-net/sonic-ztp.
PLUGINS = {"configdb-json", "connectivity-check", "download", "firmware", "graphservice", "snmp"}
COMMON = {
    *("status", "description", "ignore-result", "suspend-exit-code", "reboot-on-success", "reboot-on-failure"),
    *("halt-on-failure", "plugin"),
}
KEYS = {"download": {"files"}, "firmware": {"install"}, "configdb-json": {"url", "clear-config", "save-config"}}
INSTALL = {"url", "dynamic-url", "version", "set-default", "set-next-boot", "skip-reboot", "pre-check"}


def test_ztp_json_has_documented_sections(files: dict[str, str]) -> None:
    document: dict[str, Any] = json.loads(files[f"{folder('sonic')}/ztp.json"])
    assert list(document) == ["ztp"]
    sections = document["ztp"]
    assert list(sections) == sorted(sections)
    for name, section in sections.items():
        plugin = re.sub("^[0-9]+-", "", name)
        own = set(section) - COMMON
        if "plugin" in section:
            assert (own, list(section["plugin"])) == (set(), ["url"])
        else:
            assert plugin in PLUGINS
            assert own <= KEYS[plugin]
            assert set(section.get("install", ())) <= INSTALL
        assert section["halt-on-failure"] is True
    places = [one["url"]["destination"] for one in sections["04-download"]["files"]]
    assert places == ["/run/day-zero.json", "/etc/sonic/frr/frr.conf"]


def test_the_md5_line_of_poap(files: dict[str, str]) -> None:
    text = files[f"{folder('nxos')}/poap.py"]
    lines = text.splitlines(keepends=True)
    rest = "".join(line for line in lines if not line.startswith("#md5sum"))
    assert (lines[0], lines[1]) == ("#!/bin/env python3\n", f'#md5sum="{hashlib.md5(rest.encode()).hexdigest()}"\n')
    compile(text, "poap.py", "exec")


def test_the_flag_of_cumulus(files: dict[str, str]) -> None:
    assert files[f"{folder('cumulus')}/ztp.sh"].startswith("#!/bin/bash\n# CUMULUS-AUTOPROVISIONING\n")


def test_scripts_of_the_shell(files: dict[str, str], tmp_path: Path) -> None:
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    scripts = {path: text for path, text in files.items() if text.startswith(("#!/bin/sh", "#!/bin/bash"))}
    assert len(scripts) == 7
    write(scripts, tmp_path)
    done = subprocess.run(["shellcheck", *scripts], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_switch_that_is_known_by_its_port_looks_at_its_address(tmp_path: Path) -> None:
    text = exported(CIRCUITS, "", tmp_path)["http/switches/core-leaf001.172.16.0.2/ztp.sh"]
    assert 'same "management address" 172.16.0.2 "$(ip -4 -o addr show dev eth0' in text


def test_an_image_of_a_model_goes_before_that_of_the_network_os(tmp_path: Path) -> None:
    other = SITE.replace("      eos:", f"      sn4700: {{file: other.bin, version: X, sha256: {SHA256}}}\n      eos:")
    files = exported(other, BY_MAC, tmp_path)
    assert f"{URL}/images/other.bin" in files[f"{folder('sonic')}/image.sh"]
    assert f"{URL}/images/other.bin" in files["kea-dhcp4.conf"]
    assert "sonic.bin" not in files["kea-dhcp4.conf"] + files["fill.json"]


def test_without_images_nothing_is_installed(tmp_path: Path) -> None:
    bare = re.sub(r"    images:\n(      .*\n)+", "", SITE)
    files = exported(bare, BY_MAC, tmp_path)
    assert not [path for path, text in files.items() if "images/" in text and path != "fill.py"]
    assert not [path for path in files if path.endswith("image.sh")]
    assert json.loads(files["fill.json"])["images"] == {}


def test_a_network_os_without_a_first_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare = replace(target("eos"), day_zero=None)
    monkeypatch.setattr(
        "fabric.deliver.day_zero.export.installed", lambda nos: bare if nos == "eos" else target(nos) if nos else None
    )
    monkeypatch.setattr("fabric.deliver.export.formats.target", lambda nos: bare if nos == "eos" else target(nos))
    files = exported(re.sub(", extensions: [^}]*}", "", SITE), BY_MAC, tmp_path)
    assert not [path for path in files if path.startswith("http/switches/eos")]
    assert '"eos-leaf001"' in files["kea-dhcp4.conf"]
    assert [str(item).split("\n")[0] for item in unsupported("day-zero", planned(SITE))] == [
        "day-zero: warning[FAB168]: not supported on Arista EOS: 1 switch get an address and no files"
    ]


# --- Hostile text ---------------------------------------------------------------------------------------------

WORDS = [
    "a b",
    "a;reboot",
    "$(reboot)",
    "`reboot`",
    "a'b",
    'a"b',
    "a\\b",
    "../x",
    "/etc/passwd",
    "a\nb",
    "a,b",
    "a#b",
    "${A}",
]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("key", ["server", "file", "version", "sha256", "circuit_id"])
def test_no_text_of_the_intent_becomes_syntax(key: str, word: str) -> None:
    quoted = json.dumps(f"http://192.0.2.5/{word}" if key == "server" else f"{{port}}{word}" if key == "circuit_id" else word)
    image = {"file": '"a.bin"', "version": '"1"', "sha256": f'"{SHA256}"', key: quoted}
    text = SITE.replace(f"server: {URL}", f"server: {quoted if key == 'server' else URL}")
    text = re.sub(
        r"      sonic: \{file.*",
        "      sonic: {" + ", ".join(f"{k}: {image[k]}" for k in ("file", "version", "sha256")) + "}",
        text,
    )
    if key == "circuit_id":
        text = text.replace("    images:", f"    circuit_id: {quoted}\n    images:")
    if key == "circuit_id" and word in ("a b", "../x", "/etc/passwd"):  # bytes in hexadecimal digits, and no path
        assert planned(text)
        return
    with pytest.raises(InputError):
        planned(text)
