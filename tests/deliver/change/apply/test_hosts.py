"""Changes carried out over real SSH, at switches that answer as their network OS does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("asyncssh")
pytest.importorskip("ncclient")
pytest.importorskip("netmiko")
pytest.importorskip("nornir")
pytest.importorskip("paramiko")

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.change.apply.hosts import cli, inventory, ssh
from fabric.deliver.change.apply.hosts.network import HostNetwork, hosts
from fabric.deliver.change.apply.hosts.ssh import commands
from fabric.deliver.change.apply.records import CARRIED_OUT, STOPPED, TAKEN_BACK, Outcome
from fabric.deliver.change.files import APPLY
from fabric.deliver.export.ansible import ansible
from tests import ROOT
from tests.cli.diff_sites import fabric, site
from tests.deliver.change.apply.bench import QUICK, Bench, opened, written
from tests.deliver.change.apply.ssh_switches import LOST, PASSWORD, REFUSED, SILENT, USER, LineFault, Switches, served
from tests.waiting import FAR_S

LEAF = "backend-leaf001"


@pytest.fixture
def login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(inventory.USERNAME, USER)
    monkeypatch.setenv(inventory.PASSWORD, PASSWORD)
    monkeypatch.setenv(inventory.KNOWN_HOSTS, str(tmp_path / "known_hosts"))
    return tmp_path


@pytest.fixture
def bench(login: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    nos = getattr(request, "param", "eos")
    folder = written(login, site(fabric(nos)), site(fabric(nos, 2, "underlay: {mtu: 9000}")))
    with opened(folder) as work:
        yield Bench(work)


def run(bench: Bench, folder: Path, fault: LineFault, resume: bool = False) -> Outcome:
    """Carries the change out at EOS switches with a fault."""
    with served(Switches(bench, "eos", fault), folder) as file, hosts(file, bench.work) as network:
        return pipeline.change_apply(bench.work, network, replace(QUICK, resume=resume))


def once(device: str, line: str, kind: str) -> LineFault:
    """A fault at the first line of this kind at a switch."""
    struck: list[str] = []

    def fault(at: str, text: str) -> str:
        if at == device and line in text and not struck and "-tried" not in text:
            struck.append(text)
            return kind
        return ""

    return fault


# --- whole changes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "kind", "state", "code"),
    [
        ("", "", CARRIED_OUT, ""),
        ("commit timer", REFUSED, TAKEN_BACK, "FAB562"),
        ("copy running-config", LOST, TAKEN_BACK, "FAB563"),
        ("-wave1 commit", LOST, TAKEN_BACK, "FAB563"),
    ],
)
def test_a_change_over_ssh(line: str, kind: str, state: str, code: str, bench: Bench, login: Path) -> None:
    outcome = run(bench, login, once(LEAF, line, kind))
    wave = outcome.waves[0]
    assert wave.state == state, wave
    assert [remark.id for remark in wave.remarks] == ([code] if code else [])
    moments = bench.work.stages[0]
    wanted = moments.after if state == CARRIED_OUT else moments.before
    assert all(device.files == wanted.files(name) for name, device in bench.devices.items())
    assert all(device.pending is None for device in bench.devices.values())
    journal = (bench.work.folder / "journal.jsonl").read_text(encoding="utf-8")
    assert PASSWORD not in journal
    if code:
        assert run(bench, login, lambda device, text: "", resume=True).waves[0].state == CARRIED_OUT


def test_a_wrong_password(bench: Bench, login: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inventory.PASSWORD, "wrong")
    wave = run(bench, login, lambda device, text: "").waves[0]
    assert wave.state == STOPPED
    assert "the login of admin is refused" in wave.remarks[0].message
    assert "wrong" not in str(wave)
    assert bench.typed == []


def test_an_unknown_host_key(bench: Bench, login: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inventory.KNOWN_HOSTS, str(login / "nothing"))
    wave = run(bench, login, lambda device, text: "").waves[0]
    assert wave.state == STOPPED
    assert "its host key is not known: check it, then `ssh-keyscan" in wave.remarks[0].message
    assert not (login / "nothing").exists()
    assert bench.typed == []


def test_another_host_key(bench: Bench, login: Path) -> None:
    switches = Switches(bench, "eos")
    other = Switches(bench, "eos")
    with served(switches, login) as file:
        public = other.key.export_public_key().decode().strip()
        rows = "".join(f"[127.0.0.1]:{port} {public}\n" for port in switches.ports.values())
        (login / "known_hosts").write_text(rows, encoding="utf-8")
        with hosts(file, bench.work) as network:
            wave = pipeline.change_apply(bench.work, network, QUICK).waves[0]
    assert "its host key differs from the known one" in wave.remarks[0].message


def test_a_silent_switch(bench: Bench, login: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh, "READ_S", 1.0)
    monkeypatch.setattr(cli.Cli.__init__, "__defaults__", (1.0,))
    monkeypatch.setattr(ssh.Shell.__init__, "__defaults__", (20.0,))
    wave = run(bench, login, once(LEAF, "show session-config diffs", SILENT)).waves[0]
    assert (wave.state, [remark.id for remark in wave.remarks]) == (STOPPED, ["FAB563"])
    assert "no answer within 1 s" in wave.remarks[0].message


def test_what_killed_the_run_is_no_matter(bench: Bench, login: Path) -> None:
    """`kill -9` in the middle of the lines of a switch, then `--resume` by the next process."""
    child: list[subprocess.Popen[str]] = []

    def fault(device: str, line: str) -> str:
        if device == LEAF and "mtu" in line and child and (LEAF, APPLY) not in bench.typed and "tried" not in seen[-1]:
            os.kill(child[0].pid, signal.SIGKILL)
            return LOST
        if line.startswith("configure session") and device == LEAF:
            seen.append(line)
        return ""

    seen = [""]
    with served(Switches(bench, "eos", fault), login) as file:
        command = [
            str(Path(sys.executable).with_name("fabric")),
            "change",
            "apply",
            str(bench.work.folder),
            "--inventory",
            str(file),
        ]
        environment = os.environ | secrets()
        child.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
        )
        answered = child[0].communicate(timeout=FAR_S)[0]
        assert child[0].returncode == -signal.SIGKILL, answered
        lines = (bench.work.folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        assert f'"step": "apply", "event": "start", "device": "{LEAF}"' in "\n".join(lines)
        child.clear()
        again = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, timeout=FAR_S, check=False)
        assert again.returncode == 2
        assert "wave 1 was interrupted, and is not carried out" in again.stderr
        done = subprocess.run(
            [*command, "--resume"], env=environment, capture_output=True, text=True, cwd=ROOT, timeout=FAR_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert all(device.files == bench.work.stages[0].after.files(name) for name, device in bench.devices.items())
    assert max(map(len, done.stdout.splitlines())) <= 80 + len(str(bench.work.folder))


def secrets() -> dict[str, str]:
    return dict.fromkeys(("ADMIN_PASSWORD_HASH", "SNMP_AUTH_KEY", "SNMP_PRIV_KEY"), "a-secret")


# --- one session ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bench", ["nxos"], indirect=True)
def test_nxos(bench: Bench, login: Path) -> None:
    """Every line has its effect at once, there is no timer, and questions are answered."""
    with served(Switches(bench, "nxos"), login) as file, hosts(file, bench.work) as network:
        lines = bench.work.lines(1, LEAF, "nxos", APPLY)
        answer = network.connect(LEAF).type(lines)
        assert (answer.refused, answer.typed, answer.dropped) == ("", len(lines), False)
        assert bench.devices[LEAF].files == bench.work.stages[0].after.files(LEAF)
        restart = network.connect(LEAF).type(["copy running-config startup-config", "reload", "show version"])
        assert (restart.dropped, restart.typed) == (True, 1)
        assert "Copy complete." in restart.text


@pytest.mark.parametrize("bench", ["frr"], indirect=True)
def test_a_linux_shell(bench: Bench, login: Path) -> None:
    """A here-document is one command; the exit code decides; what is read comes whole."""
    seen: list[str] = []

    def shell(device: str, command: str) -> tuple[int, str]:
        seen.append(command)
        return (1, "1 out of 1 hunk FAILED\n") if command.startswith("sudo patch") else (0, "")

    with served(Switches(bench, "frr", shell=shell), login) as file, hosts(file, bench.work) as network:
        lines = bench.work.lines(1, LEAF, "frr", APPLY)
        answer = network.connect(LEAF).type(lines)
        assert answer.refused == "sudo patch /etc/network/interfaces <<'EOF': 1 out of 1 hunk FAILED"
        assert 0 < answer.typed < len(lines)
        document = next(command for command in seen if command.startswith("cat > dc1-wave1.undo"))
        assert document.endswith("\nUNDO\n")
        assert network.connect(LEAF).running()["frr.conf"] == bench.running(LEAF)["frr.conf"]


def test_commands_of_a_shell() -> None:
    lines = ["# a comment", "cat > a <<'EOF'", "x", "# of the file", "EOF", "", "echo b", "cat > c <<'UNDO'", "y"]
    assert list(commands(lines)) == [
        ("cat > a <<'EOF'\nx\n# of the file\nEOF\n", 4),
        ("echo b", 1),
        ("cat > c <<'UNDO'\ny\n", 2),
    ]


# --- inventories ----------------------------------------------------------------------------------------------------------


ENVIRONMENT = {inventory.USERNAME: "me", inventory.PASSWORD: "p"}


def test_inventories(tmp_path: Path) -> None:
    nornir = tmp_path / "hosts.yaml"
    nornir.write_text(
        "leaf1: {hostname: 10.0.0.1, port: 2222, groups: [eos]}\nleaf2: {hostname: 10.0.0.2}\n", encoding="utf-8"
    )
    (tmp_path / "groups.yaml").write_text("eos: {username: ops, platform: arista_eos}\n", encoding="utf-8")
    found = inventory.read(nornir, {"leaf1": "eos", "leaf2": "eos"}, ENVIRONMENT)
    assert (found["leaf1"].login.username, found["leaf1"].port, str(found["leaf2"])) == ("ops", 2222, "leaf2 (10.0.0.2)")
    assert "p" not in repr(found["leaf1"].login).replace("password", "").replace("ops", "").replace("pathlib", "").split("=")
    ansible = tmp_path / "inventory.yml"
    ansible.write_text("all: {hosts: {leaf1: {ansible_host: 10.0.0.9}}}\n", encoding="utf-8")
    assert inventory.read(ansible, {"leaf1": "eos"}, ENVIRONMENT)["leaf1"].address == "10.0.0.9"


@pytest.mark.parametrize(
    ("text", "environment", "message"),
    [
        ("leaf2: {}\n", ENVIRONMENT, "expected every switch of the change, got no leaf1"),
        ("leaf1: {platform: cisco_nxos}\n", ENVIRONMENT, "leaf1: platform: expected arista_eos or eos"),
        ("leaf1: {port: 99999}\n", ENVIRONMENT, "leaf1: port: expected a number from 1 to 65535, got 99999"),
        ("- leaf1\n", ENVIRONMENT, "expected hosts by their names"),
        ("leaf1: {\n", ENVIRONMENT, "expected YAML"),
        ("leaf1: {}\n", {inventory.PASSWORD: "p"}, "expected a user name for 1 switch, got none"),
    ],
)
def test_inventories_that_do_not_do(text: str, environment: dict[str, str], message: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        inventory.read(file, {"leaf1": "eos"}, environment)


def test_the_inventory_that_is_exported(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "inventory.yml"
    plan = bench.work.stages[0].before.plan
    file.write_text(ansible(plan), encoding="utf-8")
    found = inventory.read(file, dict.fromkeys(bench.devices, "eos"), ENVIRONMENT)
    assert set(found) == set(bench.devices)
    assert isinstance(HostNetwork(found), HostNetwork)
