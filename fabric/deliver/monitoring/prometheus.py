"""`fabric export prometheus`: rules, their unit tests, targets, and the plan's own series, for every fabric of a site."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import json_line
from fabric.base.formats.yaml import dump
from fabric.deliver.monitoring import rules, trials
from fabric.deliver.monitoring.exporters import Exporter, exporters, exporters_of
from fabric.deliver.monitoring.sample import SampleElements
from fabric.deliver.monitoring.watch import Choose, Watch
from fabric.design.floor.floor import floor
from fabric.model.plan import Plan

# --- YAML -----------------------------------------------------------------------------------------------------


def document(data: object, head: str = "") -> str:
    """A document under a comment of one or several lines."""
    return dump(data, head, width=126, allow_unicode=True)


def file_name(text: str) -> str:
    """A name that stays in its folder; names of an intent are such names already."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text).lstrip(".") or "_"


# --- targets and configuration --------------------------------------------------------------------------------

SCRAPE_INTERVAL, FACTS_INTERVAL = "30s", "2m"
FACTS_JOB, FACTS_TARGET = "fabric-facts", "localhost:9100"


def targets_of_jobs(watches: Iterable[Watch]) -> dict[str, list[dict[str, Any]]]:
    """Job → its targets; a collector that serves many switches is one target of its site."""
    targets_of: dict[str, list[dict[str, Any]]] = {}
    for watch in watches:
        for device in watch.fabric.switches:
            for exporter in watch.of(device):
                entry = _target(watch, exporter, device.index)
                rows = targets_of.setdefault(exporter.job, [])
                if not exporter.collector or entry not in rows:
                    rows.append(entry)
    return dict(sorted(targets_of.items()))


def _target(watch: Watch, exporter: Exporter, index: int) -> dict[str, Any]:
    if exporter.collector:
        return {"targets": [f"localhost:{port}" for port in exporter.ports], "labels": {"site": watch.site}}
    address = ip_address(int(watch.fabric.management[index]))
    host = f"[{address}]" if address.version == 6 else str(address)
    where = watch.facts.of_switch(watch.fabric.devices[index])
    return {
        "targets": [str(address) if exporter.name == "snmp" else f"{host}:{exporter.ports[0]}"],
        "labels": {name: value for name, value in where.items() if value},
    }


def target_file(rows: list[dict[str, Any]]) -> str:
    """A target a line."""
    return "[\n" + ",\n".join(json_line(row, ensure_ascii=False) for row in rows) + "\n]\n"


def configuration(targets_of: Mapping[str, list[dict[str, Any]]], snmp_port: int) -> dict[str, Any]:
    """A Prometheus that reads all of it; who has one merges the jobs and the rule files into it."""
    jobs = [_job(name, snmp_port) for name in targets_of]
    facts = {
        "job_name": FACTS_JOB,
        "honor_labels": True,  # `device` and the rest are the plan's, not this target's
        "scrape_interval": FACTS_INTERVAL,
        "scrape_timeout": "1m",  # tens of megabytes of a large site
        "static_configs": [{"targets": [FACTS_TARGET]}],
        "metric_relabel_configs": [{"source_labels": ["__name__"], "regex": "fabric_.+_info", "action": "keep"}],
    }
    return {
        "global": {"scrape_interval": SCRAPE_INTERVAL, "evaluation_interval": SCRAPE_INTERVAL},
        "rule_files": ["rules/*.yaml"],
        "alerting": {"alertmanagers": [{"static_configs": [{"targets": ["localhost:9093"]}]}]},
        "scrape_configs": [facts, *jobs],
    }


def _job(name: str, snmp_port: int) -> dict[str, Any]:
    job: dict[str, Any] = {"job_name": name, "file_sd_configs": [{"files": [f"targets/{name}.json"]}]}
    if name == "snmp":
        job |= {
            "metrics_path": "/snmp",
            "params": {"module": ["if_mib"]},
            "relabel_configs": [
                {"source_labels": ["__address__"], "target_label": "__param_target"},
                {"target_label": "__address__", "replacement": f"localhost:{snmp_port}"},
            ],
        }
    return job


# --- export ---------------------------------------------------------------------------------------------------

INTERVAL = "30s"


def prometheus(plan: Plan, choose: Choose = exporters_of) -> Mapping[str, str]:
    """Files by their path, for the collectors that suit every switch's network OS. Raises InputError without switches."""
    stands = floor(plan)
    watches = [Watch(plan.site, fabric, stands, choose) for fabric in plan.fabrics.values() if fabric.switches]
    if not watches:
        message = f"site '{plan.site}' has no switches, so there is nothing to watch"
        raise InputError([Diagnostic("FAB161", Place(str(plan.settings.home.path)), message)])
    targets = targets_of_jobs(watches)
    files = {
        "prometheus.yaml": document(
            configuration(targets, exporters()["snmp"].ports[0]),
            "Reads everything in this folder; facts/*.prom go to the textfile folder of the node_exporter on localhost:9100.",
        ),
        "alertmanager-inhibit.yaml": document(
            {"inhibit_rules": rules.inhibit_rules()},
            "To merge into alertmanager.yml: an alert inhibits those that it explains.",
        ),
    }
    for job, rows in targets.items():
        files[f"targets/{job}.json"] = target_file(rows)
    for watch in watches:
        files |= _fabric(watch)
    return files


def prometheus_snmp(plan: Plan) -> Mapping[str, str]:
    """The same with SNMP alone, for sites that have nothing else; the counters of lossless traffic are then not seen."""
    snmp = (exporters()["snmp"],)
    return prometheus(plan, lambda nos: snmp)


def _fabric(watch: Watch) -> dict[str, str]:
    name = file_name(watch.fabric.name)
    groups = rules.groups(watch, INTERVAL)
    alerting = rules.group(watch, INTERVAL)
    order = [group["name"] for group in (*groups, alerting)]
    rule_files = [f"../rules/{name}-recording.yaml", f"../rules/{name}-alerts.yaml"]
    by = ", ".join(exporter.title for exporter in watch.exporters)
    return {
        f"facts/{name}.prom": watch.facts.text(),
        f"rules/{name}-recording.yaml": document({"groups": groups}, f"What collectors report, joined with the plan: {by}."),
        f"rules/{name}-alerts.yaml": document({"groups": [alerting]}),
        f"tests/{name}.yaml": document(trials.tests(SampleElements(watch), rule_files, order), "promtool test rules"),
    }
