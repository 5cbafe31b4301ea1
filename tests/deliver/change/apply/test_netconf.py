"""The NETCONF path against a real server, netconfd of yuma123: a test of the client, not of Junos.

This server commits nothing after `validate`, so changes here go without `commit check`.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ncclient")
pytest.importorskip("paramiko")

from fabric.deliver.change.apply.hosts.inventory import Host, Login
from fabric.deliver.change.apply.hosts.netconf import Netconf
from fabric.nos.change import Session
from tests.waiting import wait_for

SERVER, SUBSYSTEM, SSHD = "/usr/sbin/netconfd", "/usr/sbin/netconf-subsystem", "/usr/sbin/sshd"
LACKING = [path for path in (SERVER, SUBSYSTEM, SSHD) if not shutil.which(path)]
pytestmark = pytest.mark.skipif(
    bool(LACKING), reason=f"not installed: {', '.join(LACKING)}: packages netconfd, openssh-server"
)

INTERFACES = "urn:ietf:params:xml:ns:yang:ietf-interfaces"
TYPE = 'xmlns:ianaift="urn:ietf:params:xml:ns:yang:iana-if-type"'
OPERATIONS = {
    "configure exclusive": "lock",
    "commit check": "validate",
    r"commit confirmed-seconds (?P<seconds>\d+) comment (?P<name>\S+)": "confirmed",
    r"commit and-quit comment (?P<name>\S+)": "confirm",
    "commit and-quit": "commit",
    "rollback 0": "discard",
    "exit": "unlock",
}


def config(name: str, known: bool = True) -> str:
    leaf = "description" if known else "nonsense"
    return (
        f'<config><interfaces xmlns="{INTERFACES}"><interface><name>{name}</name><{leaf}>x</{leaf}>'
        f"<type {TYPE}>ianaift:ethernetCsmacd</type></interface></interfaces></config>"
    )


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """A server of its own: its sshd, its key, the login by a key."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    (tmp_path / "authorized").write_text((tmp_path / "user.pub").read_text(encoding="utf-8"), encoding="utf-8")
    sock = tmp_path / "ncx.sock"
    settings = (
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {tmp_path}/host\nAuthorizedKeysFile {tmp_path}/authorized\n"
        f"StrictModes no\nUsePAM no\nPidFile {tmp_path}/pid\nPermitRootLogin yes\n"
        f'Subsystem netconf "{SUBSYSTEM} --ncxserver-sockname={port}@{sock}"\n'
    )
    (tmp_path / "sshd_config").write_text(settings, encoding="utf-8")
    Path("/run/sshd").mkdir(exist_ok=True)
    flags = ["--no-startup", "--target=candidate", "--superuser=root", "--access-control=off", "--with-startup=false"]
    modules = ["--modpath=/usr/share/yuma/modules//.", "--module=ietf-interfaces", "--module=iana-if-type"]
    server = subprocess.Popen(
        [SERVER, *flags, f"--port={port}", f"--ncxserver-sockname={sock}", *modules, f"--log={tmp_path}/log"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )
    gate = subprocess.Popen([SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")], stderr=subprocess.DEVNULL)
    try:
        public = (tmp_path / "host.pub").read_text(encoding="utf-8").strip()
        (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n", encoding="utf-8")
        wait_for(lambda: sock.exists() and _listens(port), "netconfd does not start")
        session = Session(kind="netconf", running={}, operations=OPERATIONS)
        login = Login("root", None, tmp_path / "known_hosts", tmp_path / "user")
        made = Host(name="r1", address="127.0.0.1", nos="junos", session=session, login=login, port=port)
        first = Netconf(made)  # the server does not show what is committed to an empty config
        assert first.type(["configure exclusive", config("eth0"), "commit and-quit"]).refused == ""
        first.close()
        assert settled(made, ["eth0"]) == ["eth0"]
        yield made
    finally:
        for process in (gate, server):
            process.terminate()
            process.wait(10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def names(host: Host) -> list[str]:
    """The interfaces that run. The server answers a moment late after a commit."""
    session = Netconf(host)
    try:
        text = str(session.manager.get_config("running"))
    finally:
        session.close()
    return [name for name in ("eth0", "eth1", "eth2", "eth3") if f">{name}<" in text]


def settled(host: Host, wanted: list[str], tries: int = 100) -> list[str]:
    for _ in range(tries):
        if (found := names(host)) == wanted:
            break
        time.sleep(0.2)
    return found


def change(name: str, seconds: int) -> list[str]:
    return ["configure exclusive", config(name), f"commit confirmed-seconds {seconds} comment w1", "exit"]


def test_confirmed_in_time(host: Host) -> None:
    first = Netconf(host)
    assert first.type(change("eth1", 60)).refused == ""
    first.close()
    assert settled(host, ["eth0", "eth1"]) == ["eth0", "eth1"]  # the session has ended, the commit has not
    second = Netconf(host)
    answer = second.type(["configure exclusive", "commit and-quit comment w1"])
    assert (answer.refused, answer.dropped) == ("", False)
    second.close()
    assert settled(host, ["eth0", "eth1"]) == ["eth0", "eth1"]


def test_only_its_own_commit_is_confirmed(host: Host) -> None:
    """The server does not end a commit with a persist-id after its time, so that is not tested here."""
    session = Netconf(host)
    assert session.type(change("eth2", 600)).refused == ""
    session.close()
    late = Netconf(host)
    answer = late.type(["configure exclusive", "commit and-quit comment w2"])
    assert answer.refused.startswith("commit and-quit comment w2: ")
    late.close()
    assert settled(host, ["eth0", "eth2"]) == ["eth0", "eth2"]


def test_a_refused_line_leaves_no_candidate(host: Host) -> None:
    session = Netconf(host)
    answer = session.type(["configure exclusive", config("eth1", known=False), "commit and-quit"])
    assert (answer.typed, answer.dropped) == (1, False)
    assert "nonsense" in answer.refused
    session.close()
    other = Netconf(host)
    assert other.type(["configure exclusive", config("eth3"), "commit and-quit"]).refused == ""
    other.close()
    assert settled(host, ["eth0", "eth3"]) == ["eth0", "eth3"]


def test_a_dry_run_changes_nothing(host: Host) -> None:
    session = Netconf(host)
    lines = ["configure exclusive", config("eth1"), "commit check", "rollback 0", "exit"]
    assert session.type(lines).refused == ""
    session.close()
    assert names(host) == ["eth0"]


def test_a_session_that_ends(host: Host) -> None:
    session = Netconf(host)
    session.manager._session.transport.close()
    answer = session.type(["configure exclusive", config("eth1"), "commit and-quit"])
    assert answer.dropped
    assert names(host) == ["eth0"]
