"""A server and its clients in namespaces of their own: `python -m tests.deliver.day_zero.network` reads a request from stdin.

Everything is gone with the process: network, mounts and daemons are in namespaces that `run` makes with `unshare`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.waiting import wait_for

SERVER = "172.16.0.200"
NAMESPACES = ("unshare", "-n", "-m", "-p", "-f", "--kill-child", "--mount-proc", "--propagation", "private")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
HOOK = """#!/bin/sh
[ "$1" != bound ] || env
"""
STUB = """#!/bin/sh
printf '%s' "${0##*/}" >> /log; for word; do printf ' %s' "$word" >> /log; done; echo >> /log
"""


def require(*programs: str) -> None:
    """Skips where the network cannot be made, and says why."""
    import pytest  # not inside of the namespaces

    if os.geteuid() != 0:
        pytest.skip("not root: no namespaces")
    for program in ("unshare", "ip", *programs):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine gives no namespaces")


def run(request: Mapping[str, Any]) -> Any:
    """What `main` prints."""
    command = [*NAMESPACES, sys.executable, "-m", __name__]
    done = subprocess.run(
        command,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# --- Inside ---------------------------------------------------------------------------------------------------


def sh(*command: str, check: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not check or done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def bridge() -> None:
    sh("mount", "-t", "tmpfs", "tmpfs", "/run")
    for folder in ("/run/netns", "/run/kea", "/run/lock/kea"):
        Path(folder).mkdir(parents=True)
    sh("ip", "link", "set", "lo", "up")
    sh("ip", "link", "add", "br0", "type", "bridge")
    sh("ip", "addr", "add", f"{SERVER}/24", "dev", "br0")
    sh("ip", "link", "set", "br0", "up")


def client(at: int, mac: str, port: str = "eth0") -> str:
    """A namespace with one port at the bridge."""
    name = f"c{at}"
    sh("ip", "netns", "add", name)
    sh("ip", "link", "add", f"v{at}", "type", "veth", "peer", "name", port, "netns", name, "address", mac)
    sh("ip", "link", "set", f"v{at}", "master", "br0", "up")
    sh("ip", "-n", name, "link", "set", "lo", "up")
    sh("ip", "-n", name, "link", "set", port, "up")
    return name


def serve(kind: str, config: str) -> None:
    """Starts a DHCP server, after its own look at the file."""
    log = Path("/run/server.log").open("w", encoding="utf-8")  # noqa: SIM115
    if kind == "kea":
        document = json.loads(Path(config).read_text(encoding="utf-8"))
        document["Dhcp4"]["lease-database"]["persist"] = False  # its folder belongs to a service
        path = Path("/run/kea.conf")
        path.write_text(json.dumps(document), encoding="utf-8")
        sh("kea-dhcp4", "-t", config)
        command = ["kea-dhcp4", "-c", str(path)]
    else:
        sh("dnsmasq", "--test", "-C", config)
        command = ["dnsmasq", "-k", "-C", config, "--interface=br0", "--dhcp-leasefile=/run/leases", "--user=root"]
    subprocess.Popen(command, stdout=log, stderr=log)
    wait_for(lambda: ":67" in sh("ss", "-Hlun"), f"no server: {log.name}")


def ask(space: str, options: Sequence[str]) -> dict[str, str]:
    """The answer of the DHCP server as udhcpc gives it to its script; {} where none comes."""
    asked = [word for code in (43, 66, 67, 114, 150, 239) for word in ("-O", str(code))]
    command = ["udhcpc", "-i", "eth0", "-f", "-n", "-q", "-t", "3", "-T", "1", "-s", "/run/hook", *asked, *options]
    done = subprocess.run(
        ["ip", "netns", "exec", space, *command], capture_output=True, text=True, env={"PATH": PATH}, check=False
    )
    pairs = (line.partition("=") for line in done.stdout.splitlines() if "=" in line)
    return {key: value for key, _, value in pairs if key.islower()}


def dhcp(request: Mapping[str, Any]) -> list[dict[str, str]]:
    bridge()
    hook = Path("/run/hook")
    hook.write_text(HOOK, encoding="utf-8")
    hook.chmod(0o755)
    asked: dict[str, list[int]] = {}
    for at, (mac, _) in enumerate(request["clients"]):
        asked.setdefault(mac, []).append(at)
    spaces = {mac: client(at, mac) for at, mac in enumerate(asked)}
    serve(request["server"], request["config"])

    def in_turn(mac: str) -> list[tuple[int, dict[str, str]]]:
        return [(at, ask(spaces[mac], request["clients"][at][1])) for at in asked[mac]]

    with ThreadPoolExecutor(len(spaces)) as pool:
        found = dict(answer for answers in pool.map(in_turn, spaces) for answer in answers)
    return [found[at] for at in sorted(found)]


def scripts(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Runs each script on a root of its own, with stubs for the commands of the network OS."""
    bridge()
    log = Path("/run/http.log").open("w", encoding="utf-8")  # noqa: SIM115
    command = [sys.executable, "-m", "http.server", "8080", "--bind", SERVER, "--directory", request["tree"]]
    subprocess.Popen(command, stdout=log, stderr=log)
    wait_for(lambda: ":8080" in sh("ss", "-Hltn"))
    return [_script(at, one) for at, one in enumerate(request["scripts"])]


def _script(at: int, one: Mapping[str, Any]) -> dict[str, Any]:
    space, root = client(at, one["mac"], one["port"]), Path(f"/run/root{at}")
    sh("ip", "-n", space, "addr", "add", f"172.16.0.{20 + at}/24", "dev", one["port"])
    for folder in ("", ".upper", ".work"):
        root.with_suffix(folder).mkdir()
    layers = f"lowerdir=/,upperdir={root}.upper,workdir={root}.work"
    sh("mount", "-t", "overlay", "overlay", "-o", layers, str(root))
    texts = {f"stubs/{name}": STUB + body for name, body in one["stubs"].items()} | one["files"]
    for path, text in texts.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
    script = "mount -t sysfs sysfs /sys; mount -t proc proc /proc; exec " + one["command"]
    environment = {"PATH": f"/stubs:{PATH}", **one.get("env", {})}
    command = ["ip", "netns", "exec", space, "chroot", str(root), "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    read = {path: (root / path).read_text(encoding="utf-8") for path in (*one["read"], "log") if (root / path).is_file()}
    return {"code": done.returncode, "stderr": done.stderr, "files": read}


def main() -> None:
    request = json.load(sys.stdin)
    print(json.dumps(dhcp(request) if "server" in request else scripts(request)))


if __name__ == "__main__":
    main()
