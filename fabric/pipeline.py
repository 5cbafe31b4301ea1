"""The product in one page: an intent becomes a plan, the plan becomes files.

    load ──▶ Intent ──plan──▶ Plan ─┬─render──▶ files of each switch and server ──generate──▶ generated/<site>/
                                    │                    └──read back──▶ facts ──check──▶ findings with their lines
                                    ├─check──▶ findings in the intent
                                    ├─capacity──▶ cuts, throughput, what failures leave
                                    ├─estimate, step──▶ time of collectives, of a training step
                                    ├─acceptance, judge──▶ the runs that prove the cluster, with gates, and their verdict
                                    ├─goodput, design, utilisation──▶ what a design is worth to training jobs
                                    ├─drift, verify_state──▶ running configs and the state of switches, against the plan
                                    ├─change──▶ waves that keep a floor of capacity, with files ──change_apply──▶ switches
                                    ├─diff──▶ changes by another intent: design, capacity, configs
                                    ├─lab──▶ real routing daemons on the generated files, tested with failures
                                    ├─report, export──▶ a page to read, files for other tools
                                    └─bill, verify──▶ what to order, and whether the cabling is as planned
    configs, workbook, NetBox ──import_site──▶ Intent of a network that is there, proven against its configs
    Intent ──explore──▶ every design of a sweep, and those on the Pareto front

Every step takes and returns typed values, so a program can use one without the others. A `Lock` holds the names, AS numbers,
addresses and ports that earlier runs assigned and that must not change. `docs/api.md` has examples, `fabric/api/` the code.
"""

from __future__ import annotations

from fabric.api.change import change, change_apply, change_files, change_hosts, change_in_lab, change_work, redesign
from fabric.api.deliver import bill, cables, export, labels, push, report, report_designs, verify
from fabric.api.design import (
    catalog,
    catalog_power,
    catalog_power_check,
    explain,
    headroom,
    import_site,
    init,
    load,
    moves,
    numbers,
    plan,
    schema,
    schema_names,
    stopped_run,
    summarize,
    vendors,
)
from fabric.api.files import check, diff, drift, generate, lab, render, verify_state
from fabric.api.solve import (
    acceptance,
    acceptance_files,
    acceptance_gates,
    calibrate,
    calls,
    capacity,
    cross_validate,
    doctor,
    estimate,
    judge,
    probe,
    score,
    spread_beside,
    tables,
)
from fabric.api.training import design, explore, goodput, score_steps, step, training_job, utilisation, year_cost
from fabric.design.intent.intent import Intent

__all__ = [
    "Intent",
    "acceptance",
    "acceptance_files",
    "acceptance_gates",
    "bill",
    "cables",
    "calibrate",
    "calls",
    "capacity",
    "catalog",
    "catalog_power",
    "catalog_power_check",
    "change",
    "change_apply",
    "change_files",
    "change_hosts",
    "change_in_lab",
    "change_work",
    "check",
    "cross_validate",
    "design",
    "diff",
    "doctor",
    "drift",
    "estimate",
    "explain",
    "explore",
    "export",
    "generate",
    "goodput",
    "headroom",
    "import_site",
    "init",
    "judge",
    "lab",
    "labels",
    "load",
    "moves",
    "numbers",
    "plan",
    "probe",
    "push",
    "redesign",
    "render",
    "report",
    "report_designs",
    "schema",
    "schema_names",
    "score",
    "score_steps",
    "spread_beside",
    "step",
    "stopped_run",
    "summarize",
    "tables",
    "training_job",
    "utilisation",
    "vendors",
    "verify",
    "verify_state",
    "year_cost",
]
