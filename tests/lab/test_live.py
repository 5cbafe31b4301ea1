"""Labs as a user brings them up: whole, twice, killed half-way, without root; nothing of them stays, or is seen outside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fabric.cli import main
from fabric.design.intent.intent import Intent
from fabric.lab import up_down
from fabric.lab.blueprint import Names
from fabric.lab.devices import BASE_SYSCTLS
from fabric.lab.machine import daemons, namespaces
from fabric.lab.machine.host import NEEDED, kernel
from fabric.lab.proofs import PROOFS
from fabric.lab.run_tests import AFTERWARDS
from fabric.lab.up_down import take_down
from tests import ROOT
from tests.lab.sites import EVPN, SONIC, TAGGED, alive, generated, left, processes
from tests.waiting import FAR_S, wait_for

FABRIC = Path(sys.executable).parent / "fabric"
NO_OWNER = 65534
FORMATS = {"json": "lab.json", "junit": "lab.xml", "markdown": "lab.md"}
SCENARIOS = {  # every id that scenarios give their results
    "link-down", "link-blackholed", "link-blackholed-no-bfd", "spine-dead", "spine-back", "leaf-dead", "plane-dead",
    "maintenance",
    "switch-lost", "swapped-cables",
}  # fmt: skip
# What the site lacks: proof or scenario → why it is skipped on every machine.
ABSENT = {
    "management": "no management port of a switch is cabled to a network of the lab",
    "switch-lost": "no host of backend has a bond over two switches",
    "plane-dead": "backend has one plane",
}
# What `up` says, and how many seconds into it it is killed; files are loaded in less time than the steps before take.
STEPS = {"building": 0.1, "starting FRR": 0.1, "loading the generated files": 0.0}

Site = Callable[[str, str], Intent]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Makes the files of a site; whatever is left of its lab goes at the end, also where a test fails."""
    made: list[str] = []

    def make(text: str, name: str) -> Intent:
        made.append(name)
        return generated(text, name, tmp_path)

    yield make
    for name in made:
        with up_down.only_one(Names(name)):
            take_down(Names(name))


def fabric(*words: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """`fabric lab …`."""
    command = [str(FABRIC), "lab", *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def started(*words: object) -> subprocess.Popen[str]:
    """`fabric lab …` at work."""
    command = [str(FABRIC), "lab", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def until(process: subprocess.Popen[str], step: str) -> None:
    """Waits until it says that it has come so far."""
    assert process.stderr is not None
    for line in process.stderr:
        if line.strip().startswith(step):
            return


def first(done: subprocess.CompletedProcess[str]) -> str:
    """The first line that it reported, or else its errors."""
    return next(iter(done.stdout.splitlines()), done.stderr)


def host() -> tuple[object, object]:
    """Links and addresses of the machine itself."""
    rows = json.loads(subprocess.run(["ip", "-j", "address"], capture_output=True, text=True, check=True).stdout)
    addresses = {row["ifname"]: sorted(one["local"] for one in row["addr_info"] if "local" in one) for row in rows}
    return addresses, sorted((row["ifname"], row["mtu"], row.get("master", ""), row.get("address", "")) for row in rows)


def settings() -> dict[str, str]:
    """What the machine has of everything that a lab sets in its namespaces, or raises."""
    keys = {key.replace(".", "/") for key, _ in BASE_SYSCTLS} | ({*NEEDED} if not up_down.sites() else set())
    paths = {key: Path("/proc/sys", key) for key in keys}
    return {key: path.read_text(encoding="ascii") for key, path in paths.items() if path.exists()}


# --- as it should be ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("machine")
def test_a_whole_life(site: Site, tmp_path: Path) -> None:
    intent = site(TAGGED, "lab-whole")
    file, before, kept = intent.path, host(), settings()

    done = fabric("up", file)
    assert (done.returncode, first(done)) == (0, "lab-whole: up, 2 spines, 4 leaves, 8 servers, 3 stand-ins, 18 cables")
    assert [line.split(" …")[0].strip() for line in done.stderr.splitlines()] == [
        "building 2 spines, 4 leaves, 8 servers, 3 stand-ins, 18 cables",
        f"starting FRR {daemons.version()} on 8 nodes",
        "loading the generated files",
    ]
    running = processes("lab-whole")
    assert len(running) == 6 * 3 + 2 * 2  # zebra, bgpd and bfdd of each switch, the first two of stand-ins with sessions
    assert host() == before

    done = fabric("up", file)
    assert (done.returncode, first(done).split(",")[0]) == (0, "lab-whole: already up")
    assert processes("lab-whole") == running

    done = fabric("status", file)
    spaces = 6 + 8 + 3 + (0 if kernel().vrf_devices else 4 * 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split(",")[0].split() for line in done.stdout.splitlines()] == [
        ["lab-whole:", "up"],
        ["namespaces", f"{spaces}"],
        ["nodes", "8", "with", "22", "daemons"],
        ["built", "with", "--servers", "2"],
    ]

    _compared(file, tmp_path, 6)
    asked = [word for name, path in FORMATS.items() for word in ("--format", f"{name}={path}")]
    done = fabric("test", file, "--scenarios", *asked, cwd=tmp_path)
    assert done.returncode == 0, (tmp_path / "lab.json").read_text(encoding="utf-8")
    assert host() == before
    _judge(tmp_path)

    done = fabric("down", file)
    assert (done.returncode, done.stdout) == (0, "lab-whole: down\n")
    assert (left("lab-whole"), alive(running)) == ([], [])
    assert host() == before
    assert all(settings()[key] == value for key, value in kept.items() if key in settings())

    assert fabric("status", file).stdout == "lab-whole: none\n"
    assert fabric("down", file).stdout == "lab-whole: no lab is up\n"


def _judge(folder: Path) -> None:
    """Every result passes or says why not; the three reports tell the same."""
    reported = json.loads((folder / "lab.json").read_text(encoding="utf-8"))
    results = {row["id"]: row for row in reported["results"]}
    assert results.keys() == {*(proof.id for proof in PROOFS), *SCENARIOS, *(f"{name}-afterwards" for name in AFTERWARDS)}
    assert [row["id"] for row in results.values() if row["status"] == "fail"] == []
    skipped = {name: row["summary"] for name, row in results.items() if row["status"] == "skip"}
    reasons = ("is not installed", "cannot answer ARP", "this kernel cannot drop")
    assert {name: why for name, why in skipped.items() if not any(reason in why for reason in reasons)} == ABSENT
    assert (reported["site"], reported["shape"]) == ("lab-whole", "2 spines, 4 leaves, 8 servers, 3 stand-ins, 18 cables")

    suite = ET.parse(folder / "lab.xml").getroot()
    cases = list(suite.iter("testcase"))
    assert len(cases) == len(results)
    assert (len(list(suite.iter("failure"))), len(list(suite.iter("skipped")))) == (0, len(skipped))

    table = (folder / "lab.md").read_text(encoding="utf-8")
    assert all(row["title"] in table for row in results.values())


@pytest.mark.usefixtures("machine")
def test_sonic(site: Site, tmp_path: Path) -> None:
    """Its frr.conf as it is, with what config_db.json says of ports."""
    file = site(SONIC, "lab-live-sonic").path
    done = fabric("up", file)
    assert (done.returncode, first(done)) == (
        0,
        "lab-live-sonic: up, 2 spines, 2 leaves, 4 servers, 8 cables",
    )
    running = processes("lab-live-sonic")
    assert fabric("test", file, "--only", "reach").returncode == 0  # a lab that has just come up is given its time
    done = fabric("test", file, "--json")
    results = {row["id"]: row["status"] for row in json.loads(done.stdout)["results"]}
    assert (done.returncode, {name for name, status in results.items() if status == "fail"}) == (0, set())
    # Only lldpd.conf is not SONiC's, its switch ASIC suppresses ARP by itself, and the site has no router outside and no
    # out-of-band fabric.
    skipped = {name for name, status in results.items() if status == "skip"}
    assert {"management"} <= skipped <= {"suppression", "lldp", "outside", "management"}
    _compared(file, tmp_path, 4)

    names, home = Names("lab-live-sonic"), tmp_path / "later"
    os.kill(daemons.alive(names.home("backend-leaf001"))["bgpd"], signal.SIGKILL)
    done = fabric("running", file, "-o", home)
    assert (done.returncode, done.stdout, home.exists()) == (3, "", False)
    assert done.stderr == f"fabric: backend-leaf001: bgpd is not running: run `fabric lab up {file}`\n"
    assert fabric("down", file).returncode == 0
    assert (left("lab-live-sonic"), alive(running)) == ([], [])


def _compared(file: Path, folder: Path, switches: int) -> None:
    """The running configs of a lab are in sync with its plan. What else is in the folder stays."""
    home = folder / "running"
    (home / "other").mkdir(parents=True)
    done = fabric("running", file, "-o", home)
    assert (done.returncode, done.stdout.split(" in ")[0].split(" of ")[1]) == (0, f"{switches} switches")
    assert {path.name for path in home.iterdir()} == {"other", *(path.parent.name for path in home.glob("*/frr.conf"))}
    command = [str(FABRIC), "drift", str(file), str(home)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1].split(": ")[1:]) == (
        0,
        [f"{switches} switches", f"{switches} in sync"],
    )


# --- accidents ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_left_of_one_that_was_killed(site: Site, step: str) -> None:
    file, before = site(EVPN, "lab-live-killed").path, host()
    up = subprocess.Popen([str(FABRIC), "lab", "up", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert up.stderr is not None
    for line in up.stderr:
        if line.strip().startswith(step):
            break
    wait_for(lambda: namespaces.existing(Names("lab-live-killed").prefix), every_s=0.005)
    time.sleep(STEPS[step])
    running = processes("lab-live-killed")
    up.send_signal(signal.SIGKILL)
    up.wait()
    up.stderr.close()

    done = fabric("status", file)
    assert (done.returncode, first(done)) == (1, "lab-live-killed: broken")
    done = fabric("test", file)
    assert (done.returncode, "fabric lab up" in done.stderr) == (3, True)
    assert fabric("down", file).returncode == 0
    assert (left("lab-live-killed"), alive(running)) == ([], [])
    assert host() == before


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_remains_of_a_lab_from_before_a_restart(site: Site, tmp_path: Path) -> None:
    """A state file, pid files and names of namespaces that outlived their processes do not hold the site."""
    name = "lab-restarted"
    file = site(SONIC, name).path
    choices = ("--limit", "backend-spine001", "--servers", "0")
    assert fabric("up", file, *choices).returncode == 0
    names = Names(name)
    remains = {path: str(os.getpid()).encode() for path in names.folder.rglob("*.pid")}  # numbers of other programs
    remains |= {path: path.read_bytes() for path in (names.state, *names.folder.rglob("daemons"))}
    spaces = namespaces.existing(names.prefix)
    assert fabric("down", file).returncode == 0
    for path, content in remains.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for space in spaces:
        (namespaces.NETNS / space).touch()

    assert fabric("status", file).returncode == 1
    other = tmp_path / "other"
    shutil.copytree(file.parent, other)
    done = fabric("up", other / file.name, *choices)
    assert (done.returncode, first(done).split(",")[0]) == (0, f"{name}: up")
    assert fabric("down", other / file.name).returncode == 0


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("number", "step"), [(signal.SIGTERM, "building"), (signal.SIGTERM, "starting FRR"), (signal.SIGHUP, "loading")]
)
def test_up_that_is_ended_by_a_signal_takes_its_lab_down(site: Site, number: signal.Signals, step: str) -> None:
    """What `kill`, `timeout`, CI systems and a closed terminal send."""
    intent, before = site(EVPN, "lab-live-ended"), host()
    up = started("up", intent.path)
    until(up, step)
    time.sleep(0.1)
    up.send_signal(number)
    up.communicate(timeout=FAR_S)
    assert up.returncode == 128 + number
    assert left("lab-live-ended") == []
    assert host() == before


@pytest.mark.usefixtures("machine")
def test_test_and_down_that_are_ended_by_a_signal(site: Site) -> None:
    """A test leaves the lab up, with no program of its own; what `down` has begun it brings to its end."""
    file = site(EVPN, "lab-live-term").path
    assert fabric("up", file).returncode == 0
    running = processes("lab-live-term")
    trial = started("test", file, "--scenarios", "--only", "link-down")
    until(trial, "")
    time.sleep(1)
    trial.terminate()
    trial.communicate(timeout=FAR_S)
    assert trial.returncode == 128 + signal.SIGTERM
    assert processes("lab-live-term") == running

    down = started("down", file)
    wait_for(lambda: len(processes("lab-live-term")) != len(running), every_s=0.005)
    down.terminate()
    down.communicate(timeout=FAR_S)
    assert down.returncode == 128 + signal.SIGTERM
    assert (left("lab-live-term"), alive(running)) == ([], [])


@pytest.mark.slow
@pytest.mark.usefixtures("machine")
def test_changed_files_ask_for_another_up(site: Site) -> None:
    intent = site(EVPN, "lab-live-changed")
    assert fabric("up", intent.path, "--limit", "backend-spine*").returncode == 0
    path = intent.folder / "configs/backend-spine001/frr.conf"
    path.write_text(path.read_text(encoding="utf-8") + "!\n", encoding="utf-8")
    done = fabric("test", intent.path)
    assert (done.returncode, "have changed since" in done.stderr) == (1, True)
    done = fabric("up", intent.path, "--limit", "backend-spine*")
    assert (done.returncode, "already" in done.stdout) == (0, False)
    assert fabric("test", intent.path, "--only", "forwarding").returncode == 0
    assert fabric("down", intent.path).returncode == 0


@pytest.mark.usefixtures("machine")
def test_a_line_that_daemons_refuse_is_reported(site: Site) -> None:
    intent = site(EVPN, "lab-live-refused")
    path = intent.folder / "configs/backend-spine001/frr.conf"
    path.write_text(path.read_text(encoding="utf-8") + "router bpg 65000\n", encoding="utf-8")
    done = fabric("up", intent.path, "--limit", "backend-spine*")
    reported = [line for line in done.stderr.splitlines() if line.startswith("refused: backend-spine001:")]
    assert (done.returncode, bool(reported), "router bpg 65000" in " ".join(reported)) == (1, True, True), done.stderr
    assert fabric("down", intent.path).returncode == 0


@pytest.mark.usefixtures("machine")
def test_nothing_is_left_where_a_kernel_refuses_a_file(site: Site) -> None:
    intent = site(EVPN, "lab-live-filter")
    path = intent.folder / "configs/backend-leaf002/nftables.conf"
    path.write_text(path.read_text(encoding="utf-8") + "table nonsense {\n", encoding="utf-8")
    done = fabric("up", intent.path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "backend-leaf002: nftables.conf is rejected" in done.stderr
    assert left("lab-live-filter") == []


# --- what is missing ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    "words", [["test"], ["test", "--scenarios"], ["test", "--only", "lldp"], ["running", "-o", "running"]]
)
def test_a_test_needs_a_lab(site: Site, words: list[str]) -> None:
    file = site(EVPN, "lab-live-none").path
    done = fabric(*words, file)
    assert (done.returncode, done.stdout, Path("running").exists()) == (3, "", False)
    assert done.stderr == f"fabric: no lab of site 'lab-live-none' is up: run `fabric lab up {file}`\n"
    assert left("lab-live-none") == []


# Modules may lie where no one can read them, so all are read first.
AS_NO_USER = f"""
import os, sys
from pathlib import Path
import fabric.cli.lab
from fabric import pipeline
from fabric.cli import main
from fabric.lab.lab import Lab
pipeline.lab(pipeline.load(Path(sys.argv[2]))).blueprint
os.setgroups([])
os.setgid({NO_OWNER})
os.setuid({NO_OWNER})
main(["lab", *sys.argv[1:]])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another user")
@pytest.mark.parametrize("verb", ["up", "test", "down"])
def test_without_root(verb: str) -> None:
    command = [sys.executable, "-c", AS_NO_USER, verb, "intent/ai-frr.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "needs root" in done.stderr


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("there", "reported"),
    [
        ((), "FRR is not installed: no zebra in"),
        (("zebra",), "FRR is incomplete: no bgpd, bfdd in"),
        (("zebra", "bgpd"), "FRR is incomplete: no bfdd in"),
        (("zebra", "bgpd", "bfdd"), "FRR is incomplete: no vtysh"),
    ],
)
def test_without_frr(
    there: tuple[str, ...],
    reported: str,
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = site(EVPN, "lab-live-bare").path
    folder = tmp_path / "frr"
    folder.mkdir()
    for name in there:
        (folder / name).touch(mode=0o755)
    found = shutil.which
    monkeypatch.setattr(daemons, "FOLDERS", (str(folder),))
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "vtysh" else found(name))
    with pytest.raises(SystemExit) as stop:
        main(["lab", "up", str(file)])
    assert (stop.value.code, capsys.readouterr().err.startswith(f"fabric: {reported}")) == (3, True)
    assert left("lab-live-bare") == []
