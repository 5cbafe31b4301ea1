"""The rates of the doctor, on two tables that the estimate meets exactly."""

from __future__ import annotations

import numpy as np

from fabric.solver.collectives.physics import NOTHING_MEASURED
from fabric.solver.collectives.score import kinds_of, predicted
from fabric.solver.collectives.validation import Predicted
from fabric.solver.estimate.platform import platform
from fabric.solver.measured.tables import read
from tests import ROOT
from tools.doctor_rates import clusters, lines

TABLES = ROOT / "tests" / "reference" / "collectives"


def met(*names: str) -> list[Predicted]:
    """Tables that the estimate meets exactly."""
    found = []
    for name in names:
        (table,) = read(TABLES / f"{name}.yaml")
        times = predicted(table, platform(None))
        sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
        found.append(
            Predicted(
                split="source",
                name=name,
                table=table,
                kind=kinds_of(table),
                bytes=sizes,
                time_us=times,
                measured_us=times,
                known=NOTHING_MEASURED,
            )
        )
    return found


def test_tables_of_the_same_servers_are_a_cluster() -> None:
    several = clusters(met("b200_2n_allgather_vultr", "b200_2n_alltoall_vultr", "b200_1n_allreduce_vultr"), platform(None))
    assert [[curve.job.collective for curve in tables] for tables, _ in several] == [["all_gather", "alltoall"]]


def test_without_noise_tables_are_healthy_and_causes_are_found() -> None:
    text = lines(met("h100_ib_2n_allreduce_309", "b200_1n_allreduce_vultr"))
    assert text[0] == "healthy tables with a cause: 0 of 2"
    assert "healthy single numbers with a cause: 0 of 2" in text
    rates = [line.split() for line in text if line.startswith("all ")]
    with_log, without, one_with_log, one_without = (float(row[-2]) for row in rates)
    assert with_log >= without >= 80
    assert one_with_log > 20 > one_without  # one number says little without a log
    assert all(int(row[1]) > 10 for row in rates[:2])
