"""Writes forwarding tables of a real subnet manager for designs of tests: `python -m tests.lab.record_tables FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from fabric.configs.infiniband.files import Managed, files
from fabric.configs.infiniband.topology import netlist
from fabric.lab.infiniband.simulator import FASTEST_GBPS, Simulator, Subnetwork, stop
from fabric.lab.infiniband.tables import tables
from fabric.solver.infiniband.link_loads import Forwarding
from tests.configs.infiniband.designs import ENGINES, STATIC, subnets
from tests.solver.infiniband.test_tables import graph, written


def real_tables(managed: Managed, engine: str, folder: Path, site: str) -> tuple[str, Forwarding]:
    """The engine that a manager used, and its tables; all that was started has ended."""
    its = Simulator(site, folder, managed.subnet.name)
    texts = {path.rpartition("/")[2]: data.decode() for path, data in files(managed)}
    asked = ",".join(managed.engines)
    texts["opensm.conf"] = texts["opensm.conf"].replace(f"routing_engine {asked}", f"routing_engine {engine}")
    network = netlist(managed.subnet, managed.guids, FASTEST_GBPS)
    try:
        its.start(Subnetwork(managed.subnet.name, network, texts, len(managed.subnet.nodes), len(managed.subnet.switches)))
        return its.engine(), Forwarding(graph(managed), tables(its, graph(managed), managed))
    finally:
        stop(site)


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    for design in STATIC:
        for wanted in ENGINES:
            with TemporaryDirectory() as home:
                used, made_tables = real_tables(subnets(design)[0], wanted, Path(home), f"record-{design}")
            assert used == wanted, (design, used)
            (Path(sys.argv[1]) / f"{design}-{wanted}.txt").write_text(written(made_tables))
