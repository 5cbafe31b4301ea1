"""What planning, generating and estimating cost, by size: seconds (user + system), peak memory, bytes written, the slope.

Run as `make bench`. Every row is a fresh process on an intent in a scratch folder; --help and the sizing of a million
GPUs are timed too. Columns count links because cost should grow with them. Estimates are of 31 sizes, 8 B to 8 GiB, with
start-up and the plan; those of an all_reduce have a limit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def run(*arguments: str) -> tuple[str, float, float, float]:
    """(stdout, wall seconds, user + system seconds, peak MB of the largest process) of one command."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([FABRIC, *arguments], stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        out.seek(0)
        text = out.read().decode()
    wall = time.perf_counter() - begin
    if status:
        sys.exit(f"fabric {' '.join(arguments)} ended with {os.waitstatus_to_exitcode(status)}")
    return text, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    nos = sys.argv[1] if len(sys.argv) > 1 else "sonic"
    print(
        f"{'switches':>9}{'GPUs':>10}{'links':>10}{'wall s':>9}{'u+s s':>9}{'peak MB':>9}{'MB out':>9}{'us/link':>9}  {nos}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        for size in SIZES:
            path = Path(scratch) / f"{size['servers']}.yaml"
            path.write_text(INTENT.format(nos=nos, **size), encoding="utf-8")
            out = Path(scratch) / f"out-{size['servers']}"
            counts = json.loads(run("plan", str(path), "--json")[0])["fabrics"]["backend"]
            _, wall, cpu, peak = run("generate", str(path), "-o", str(out))
            written = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
            links = sum(counts["links"].values())
            print(
                f"{sum(counts['switches'].values()):9,}{counts['gpus']:10,}{links:10,}{wall:9.2f}{cpu:9.2f}"
                f"{peak:9,.0f}{written / 1e6:9.1f}{cpu / links * 1e6:9.0f}"
            )
        estimates(Path(scratch))
        path = Path(scratch) / "million.yaml"
        path.write_text(INTENT.format(nos="frr", **MILLION), encoding="utf-8")
        _, wall, cpu, peak = run("plan", str(path), "--json")
        print(f"plan --json of 1,000,000 GPUs: {wall:.2f} s wall, {cpu:.2f} s user + system, {peak:.0f} MB")
        _, wall, cpu, _ = run("--help")
        print(f"fabric --help: {wall:.2f} s wall, {cpu:.2f} s user + system")


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
