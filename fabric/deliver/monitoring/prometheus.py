"""`fabric export prometheus`: rules, their unit tests, targets, and the plan's own series, for every fabric of a site."""

from __future__ import annotations

from collections.abc import Mapping

from fabric.deliver.monitoring import alerts, recording, scrape, trials
from fabric.deliver.monitoring.documents import document, file_name
from fabric.deliver.monitoring.exporters import exporters, exporters_of
from fabric.deliver.monitoring.sample import SampleElements
from fabric.deliver.monitoring.watch import Choose, Watch
from fabric.design.floor.floor import floor
from fabric.model.plan import Plan

INTERVAL = "30s"


def prometheus(plan: Plan, choose: Choose = exporters_of) -> Mapping[str, str]:
    """Files by their path, for the collectors that suit every switch's network OS."""
    stands = floor(plan)
    watches = [Watch(plan.site, fabric, stands, choose) for fabric in plan.fabrics.values()]
    targets = scrape.targets(watches)
    files = {
        "prometheus.yaml": document(
            scrape.configuration(targets, exporters()["snmp"].ports[0]),
            "Reads everything in this folder; facts/*.prom go to the textfile folder of the node_exporter on localhost:9100.",
        ),
        "alertmanager-inhibit.yaml": document(
            {"inhibit_rules": alerts.inhibit_rules()},
            "To merge into alertmanager.yml: an alert inhibits those that it explains.",
        ),
    }
    for job, rows in targets.items():
        files[f"targets/{job}.json"] = scrape.target_file(rows)
    for watch in watches:
        files |= _fabric(watch)
    return files


def prometheus_snmp(plan: Plan) -> Mapping[str, str]:
    """The same with SNMP alone, for sites that have nothing else; the counters of lossless traffic are then not seen."""
    snmp = (exporters()["snmp"],)
    return prometheus(plan, lambda nos: snmp)


def _fabric(watch: Watch) -> dict[str, str]:
    name = file_name(watch.fabric.name)
    groups = recording.groups(watch, INTERVAL)
    alerting = alerts.group(watch, INTERVAL)
    order = [group["name"] for group in (*groups, alerting)]
    rules = [f"../rules/{name}-recording.yaml", f"../rules/{name}-alerts.yaml"]
    by = ", ".join(exporter.title for exporter in watch.exporters)
    return {
        f"facts/{name}.prom": watch.facts.text(),
        f"rules/{name}-recording.yaml": document({"groups": groups}, f"What collectors report, joined with the plan: {by}."),
        f"rules/{name}-alerts.yaml": document({"groups": [alerting]}),
        f"tests/{name}.yaml": document(trials.tests(SampleElements(watch), rules, order), "promtool test rules"),
    }
