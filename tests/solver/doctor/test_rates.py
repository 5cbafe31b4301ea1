"""The rates of the doctor, on two tables that the estimate meets exactly."""

from __future__ import annotations

import numpy as np

from fabric.solver.collectives.physics import NOTHING_MEASURED
from fabric.solver.collectives.sample import kinds_of, predicted
from fabric.solver.collectives.validation import Predicted
from fabric.solver.estimate.platform_file import platform
from fabric.solver.measured.tables import read
from tests import ROOT
from tools.doctor_rates import lines

TABLES = ROOT / "tests" / "reference" / "collectives"


def test_without_noise_tables_are_healthy_and_causes_are_found() -> None:
    predictions = []
    for name in ("h100_ib_2n_allreduce_309", "b200_1n_allreduce_vultr"):
        (table,) = read(TABLES / f"{name}.yaml")
        times = predicted(table, platform(None))
        sizes = np.array([row.bytes for row in table.scored_rows], dtype=np.float64)
        predictions.append(Predicted("source", name, table, kinds_of(table), sizes, times, times, NOTHING_MEASURED))
    text = lines(predictions)
    assert text[0] == "healthy tables with a cause: 0 of 2"
    rates = [line.split() for line in text if line.startswith("all ")]
    with_log, without = (float(row[-2]) for row in rates)
    assert with_log >= without > 80
    assert all(int(row[1]) > 10 for row in rates)
