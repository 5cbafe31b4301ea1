"""What a person waits for, with its limit in CPU seconds: the last rows of `make bench`.

The suite counts the calls of the same work, as a limit in seconds holds for one machine: these are for two cores of 2024
without other work.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from fabric import pipeline
from tests.audit.verify.fleet import INTENT as FLEET
from tests.cost import ROUNDS

Work = Callable[[], object]


def main(scratch: Path) -> None:
    """A row for every piece of work; `over` where a limit is missed."""
    print(f"{'CPU s':>9}{'limit':>7}")
    for what, limit_s, work in rows(scratch):
        least = min(_cpu_s(work) for _ in range(ROUNDS))
        _show(least, limit_s, what)
    for what, limit_s, least in _page(scratch):
        _show(least, limit_s, what)


def _show(least_s: float, limit_s: float, what: str) -> None:
    print(f"{least_s:9.3f}{limit_s:7.3f}  {what}{'  over' if least_s > limit_s else ''}", flush=True)


def _page(scratch: Path) -> Iterator[tuple[str, float, float]]:
    """The report of 1,280 switches in a browser, wall seconds; nothing where there is no browser."""
    from fabric.deliver.report.page import page
    from fabric.deliver.report.study import ReportRequest
    from tests.deliver.report.browser import CHROMIUM, chromium, opened
    from tests.deliver.report.designs import plan_of

    if not CHROMIUM:
        return
    path = scratch / "report.html"
    path.write_text(page(plan_of(scratch, "large"), ReportRequest()), encoding="utf-8")
    with chromium() as browser:
        tab = opened(browser, path)
        ready = []
        for _ in range(ROUNDS):
            tab.go("view=schematic")
            ready.append(float(tab.page.get_attribute("html", "data-ready") or "nan"))
        yield "report of 1,280 switches is ready", 0.5, min(ready) / 1000
        for view in ("schematic", "load", "pod", "path"):
            tab.page.evaluate("performance.clearMeasures('draw')")
            for direction in ("up", "down", "both") * 2:
                tab.turn(view=view, direction=direction)
            took = tab.page.evaluate("performance.getEntriesByName('draw', 'measure').map(entry => entry.duration)")
            yield f"report of 1,280 switches, {view} drawn again", 0.03, min(took) / 1000


def _cpu_s(work: Work) -> float:
    """User and system seconds, of finished child processes too."""
    before = sum(os.times()[:4])
    exact = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        work()
    return max(sum(os.times()[:4]) - before, time.process_time() - exact)


def rows(scratch: Path) -> Iterator[tuple[str, float, Work]]:
    """What is done, its limit, and the work: with what only the tests of its subject have."""
    from fabric.audit.cabling.compare import verify
    from fabric.audit.cabling.planned import planned
    from fabric.audit.cabling.report import report
    from fabric.configs.hosts import host_files
    from fabric.deliver.cabling.runs import runs
    from fabric.deliver.inventory.gather import inventory
    from fabric.deliver.inventory.netbox import netbox_tables
    from fabric.deliver.monitoring.prometheus import prometheus
    from fabric.design.floor.floor import floor
    from fabric.nos.reading.readers import recognize
    from tests.audit.cabling.helpers import site
    from tests.audit.cabling.lldp_writers import Floor, sonic_db, write
    from tests.configs.hosts import helpers as hosts
    from tests.deliver.cabling import test_scale as cabling
    from tests.deliver.inventory import test_records
    from tests.deliver.monitoring import test_files
    from tests.design.planner import test_scale as planner
    from tests.design.planner.helpers import make

    path = scratch / "million-gpus.yaml"
    path.write_text(planner.INTENT.format(servers=125_000, switch="256x800g", unit=256), encoding="utf-8")
    yield "1,000,000 GPUs sized", 3, lambda: pipeline.summarize(pipeline.load(path))
    for (servers, topology, _), limit_s in zip(cabling.SIZES, (3, 15), strict=True):
        plan = make(cabling.INTENT.format(servers, topology))
        yield f"run list of {servers:,} servers", limit_s, lambda plan=plan: runs(plan, floor(plan))
    intent = hosts.site(
        servers={"model": "hgx-h100", "count": 12_500}, topology={"switch": "512x800g", "unit": {"servers": 256}}
    )
    plan = hosts.plan(intent)
    yield "files of 12,500 servers", 10, lambda: list(host_files(plan, facts_of=hosts.lossless_facts))
    rules = scratch / "rules.yaml"
    rules.write_text(f"{test_files.HEAD}  {test_files.LARGE}\n", encoding="utf-8")
    watched = pipeline.plan(pipeline.load(rules))
    yield "Prometheus files of 1,280 switches", 15, lambda: prometheus(watched)
    recorded = test_records.plan_of(scratch, test_records.LARGE)
    yield "NetBox records of 1,280 switches", 15, lambda: netbox_tables(inventory(recorded))
    built = site("b200-3tier")
    laid = Floor(planned(built))
    sample = random.Random(7).sample(range(1, len(laid.plan.device), 2), 400)
    for one, other in zip(sample[::2], sample[1::2], strict=True):
        laid.swap(one, other)
    write(scratch / "lldp", laid, sonic_db)
    yield "1,280 switches rebooted in waves", 10, _waves()
    yield "10,000 cables against LLDP", 5, lambda: report("text", verify(built, [scratch / "lldp"])[0])
    yield "configs of 1,280 EOS switches checked alone", 30, _alone(scratch)
    text = "router bgp 1\n" + "\n" * 100_000 + " router-id 1.1.1.1\n"
    yield "a file of 100,000 empty lines recognized", 10, lambda: recognize("r1", text)


def _waves() -> Work:
    from fabric.deliver.change.records import ChangeRequest
    from fabric.solver.estimate.request import EstimateRequest
    from tests.deliver.report.designs import plan_of

    call = EstimateRequest(sizes=(1 << 30,), routing="", queue_pairs=0)
    plan = plan_of("large")
    return lambda: pipeline.change(plan, "reboot", ("leaf", "spine", "core"), ChangeRequest(), call)


def _alone(scratch: Path) -> Work:
    """`fabric check --configs` of a fleet, a process of its own as the caches of another one would be warm."""
    intent, configs = scratch / "fleet.yaml", scratch / "configs"
    intent.write_text(FLEET, encoding="utf-8")
    commands = "from fabric.cli import main; main()"
    subprocess.run([sys.executable, "-c", commands, "generate", intent, "-o", configs], check=True, stdout=subprocess.DEVNULL)
    check = [sys.executable, "-c", commands, "check", "--configs", str(configs)]
    return lambda: subprocess.run(check, check=True, stdout=subprocess.DEVNULL)
