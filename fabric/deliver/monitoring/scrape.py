"""What Prometheus scrapes: targets with the plan's labels, one file a collector, and a configuration that reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from fabric.base.formats import json_line
from fabric.deliver.monitoring.exporters import Exporter
from fabric.deliver.monitoring.watch import Watch

SCRAPE_INTERVAL, FACTS_INTERVAL = "30s", "2m"
FACTS_JOB, FACTS_TARGET = "fabric-facts", "localhost:9100"


def targets(watches: Iterable[Watch]) -> dict[str, list[dict[str, Any]]]:
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
