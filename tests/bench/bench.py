"""What planning, generating and estimating cost, by size: seconds (user + system), peak memory, bytes written, the slope.

Run as `make bench`. Every row is a fresh process on an intent in a scratch folder; --help and the sizing of a million
GPUs are timed too. Columns count links because cost should grow with them. Estimates are of 31 sizes, 8 B to 8 GiB, with
start-up and the plan; those of an all_reduce have a limit.

`python -m tests.bench.bench --against CHECKOUT` runs this tree and another one, which has a `.venv` of its own, in turns, so
that both meet the same noise of the machine: medians of seconds (user + system, children included) of every case, and their
ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench import limits

FABRIC = str(Path(sys.executable).parent / "fabric")
INTENT = """\
version: 1
site: bench
catalog: {{servers: {{server: {{gpus: 8, nics: {{compute: {{count: 8, ports: {ports}, speed_gbps: {speed}}}}}}}}}}}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: server, count: {servers}}}
    topology: {{switch: {switch}, planes: {ports}, unit: {{servers: {unit}}}, spine: {spine}}}
"""
SIZES = (
    {"servers": 128, "unit": 32, "ports": 1, "speed": 400, "switch": "sn5400", "spine": "{count: 32}"},
    {"servers": 2048, "unit": 32, "ports": 1, "speed": 400, "switch": "sn5400", "spine": "{}"},
    {"servers": 12500, "unit": 64, "ports": 2, "speed": 200, "switch": "sn5400", "spine": "{}"},
)
ESTIMATES = (("all_reduce", "packed"), ("all_reduce", "spread"), ("alltoall", "packed"), ("alltoall", "spread"))
LIMITS = {128: (1, 6000), 2048: (3, 6000), 12500: (20, 6000)}  # servers → seconds user + system, MB
MILLION = {"servers": 125_000, "unit": 128, "ports": 4, "speed": 200, "switch": "256x200g", "spine": "{}"}

EVPN = """\
version: 1
site: evpn
catalog: {{servers: {{server: {{gpus: 8, nics: {{compute: {{count: 1, speed_gbps: 400}}}}}}}}}}
fabrics:
  backend:
    nos: {nos}
    servers: {{model: server, count: {servers}, per_rack: 2}}
    topology:
      kind: rack
      unit: {{servers: 2}}
      leaf: {{switch: {leaf}, uplinks: {{count: 8, speed_gbps: 400}}}}
      spine: {{switch: {spine}, count: 8}}
    overlay: {{kind: evpn-vxlan}}
    tenants:
      - name: red
        servers: server-*
        networks:
"""
ROOT = Path(__file__).parents[2]
OTHERS = ("sonic", "cumulus", "nxos", "junos", "frr")  # measured with 128 leaves
# Modules are compiled once, as on any machine, also where the shell that measures does not keep them.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def evpn(nos: str, leaves: int) -> str:
    """An intent: every leaf has two servers, eight spines above it, and 20 networks of one tenant."""
    networks = (f"          - {{name: n{n}, vlan: {100 + n}, gateway: 10.{64 + 2 * n}.0.0/15}}\n" for n in range(20))
    leaf, spine = ("sn4700", "sn5600") if nos == "sonic" else ("32x400g", f"{leaves}x400g")  # SONiC wants a known board
    return EVPN.format(nos=nos, servers=2 * leaves, leaf=leaf, spine=spine) + "".join(networks)


def run(*arguments: str, fabric: str = FABRIC) -> tuple[str, float, float, float]:
    """(stdout, wall seconds, user + system seconds, peak MB of the largest process) of one command."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([fabric, *arguments], stdout=out, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0)
        text = out.read().decode()
    wall = time.perf_counter() - begin
    if status:
        sys.exit(f"fabric {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return text, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description="What planning, generating and estimating cost.")
    parser.add_argument("nos", nargs="?", default="sonic", help="network OS of the sizes that grow")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="another tree, with a .venv: both in turns")
    parser.add_argument("--runs", type=int, default=5, help="of each case and tree, with --against")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if options.against:
            compare(Path(scratch), str(options.against.absolute() / ".venv/bin/fabric"), options.runs)
        else:
            sizes(Path(scratch), options.nos)


def sizes(scratch: Path, nos: str) -> None:
    """The rows of `make bench`."""
    print(
        f"{'switches':>9}{'GPUs':>10}{'links':>10}{'wall s':>9}{'u+s s':>9}{'peak MB':>9}{'MB out':>9}{'us/link':>9}  {nos}"
    )
    for size in SIZES:
        path = scratch / f"{size['servers']}.yaml"
        path.write_text(INTENT.format(nos=nos, **size), encoding="utf-8")
        generated(path, "")
    path = scratch / "evpn.yaml"
    path.write_text(evpn("eos", 512), encoding="utf-8")
    generated(path, "EVPN, 20 networks, eos")
    estimates(scratch)
    path = scratch / "million.yaml"
    path.write_text(INTENT.format(nos="frr", **MILLION), encoding="utf-8")
    _, wall, cpu, peak = run("plan", str(path), "--json")
    print(f"plan --json of 1,000,000 GPUs: {wall:.2f} s wall, {cpu:.2f} s user + system, {peak:.0f} MB")
    _, wall, cpu, _ = run("--help")
    print(f"fabric --help: {wall:.2f} s wall, {cpu:.2f} s user + system, limit 1 s")
    limits.main(scratch)


def generated(path: Path, what: str) -> None:
    """The row of one intent."""
    out = path.with_suffix("")
    counts = json.loads(run("plan", str(path), "--json")[0])["fabrics"]["backend"]
    _, wall, cpu, peak = run("generate", str(path), "-o", str(out))
    written = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    links = sum(counts["links"].values())
    row = (
        f"{sum(counts['switches'].values()):9,}{counts['gpus']:10,}{links:10,}{wall:9.2f}{cpu:9.2f}"
        f"{peak:9,.0f}{written / 1e6:9.1f}{cpu / links * 1e6:9.0f}  {what}"
    )
    print(row.rstrip())


def compare(scratch: Path, other: str, runs: int) -> None:
    """A row for every case, both trees in turns."""
    print(f"{'other s':>9}{'this s':>9}{'ratio':>7}")
    for title, words in cases(scratch).items():
        seconds: dict[str, list[float]] = {other: [], FABRIC: []}
        for _ in range(runs + 1):
            for fabric, found in seconds.items():
                # Into a folder of its own: ext4 is slow to make files where others were removed just now.
                out = scratch / f"{len(list(scratch.iterdir()))}"
                found.append(run(*words, *(["-o", str(out)] if words[0] == "generate" else []), fabric=fabric)[2])
        before, now = (statistics.median(found[1:]) for found in seconds.values())  # the first run warms up
        print(f"{before:9.2f}{now:9.2f}{now / before:7.2f}  {title}", flush=True)


def cases(scratch: Path) -> dict[str, tuple[str, ...]]:
    """What `--against` measures: title → command."""
    intents = {"generate, EVPN with 20 networks, 512 leaves, eos": evpn("eos", 512)}
    intents |= {f"generate, EVPN with 20 networks, 128 leaves, {nos}": evpn(nos, 128) for nos in OTHERS}
    intents |= {f"generate, {8 * size['servers']:,} GPUs, sonic": INTENT.format(nos="sonic", **size) for size in SIZES[:2]}
    found = {}
    for n, (title, text) in enumerate(intents.items()):
        path = scratch / f"{n}.yaml"
        path.write_text(text, encoding="utf-8")
        found[title] = ("generate", str(path))
    million = scratch / "million.yaml"
    million.write_text(INTENT.format(nos="frr", **MILLION), encoding="utf-8")
    found["plan --json, 1,000,000 GPUs"] = ("plan", str(million), "--json")
    found["plan, b200-3tier"] = ("plan", str(ROOT / "intent/b200-3tier.yaml"))
    found["estimate, 16,384 GPUs, 31 sizes of all_reduce"] = ("estimate", str(path))
    found["--help"] = ("--help",)
    return found


def estimates(scratch: Path) -> None:
    """A row for every size, collective and placement; `over` where a limit is missed."""
    print(f"{'GPUs':>9}  {'31 sizes of':12}{'placement':10}{'wall s':>9}{'u+s s':>9}{'peak MB':>9}{'limit':>19}")
    for servers, (seconds, most_mb) in LIMITS.items():
        for collective, placement in ESTIMATES:
            words = ("--collective", collective, "--placement", placement)
            _, wall, cpu, peak = run("estimate", str(scratch / f"{servers}.yaml"), *words)
            limit = f"{seconds} s, {most_mb:,} MB" if collective == "all_reduce" else "-"
            over = "  over" if collective == "all_reduce" and (cpu > seconds or peak > most_mb) else ""
            counted = f"{servers * 8:9,}  {collective:12}{placement:10}"
            print(f"{counted}{wall:9.2f}{cpu:9.2f}{peak:9,.0f}{limit:>19}{over}")


if __name__ == "__main__":
    main()
