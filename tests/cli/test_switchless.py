"""Every subcommand on servers without switches: it works, or says why not; no count of switches has to be above zero."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.deliver.export.formats import FORMATS
from tests.cli.conftest import Run

HEAD = "version: 1\nsite: s\nfabrics:\n  f:\n"
SITES = {
    "pair": f"{HEAD}    servers: {{model: dgx-h100, count: 2}}\n    topology: {{kind: back-to-back}}\n",
    "ring": f"{HEAD}    servers: {{model: dgx-spark, count: 3}}\n    topology: {{kind: ring}}\n",
}
STEP = (
    "model: {parameters: 1.0e9, layers: 16, hidden: 2048, sequence: 2048}\nbatch: {micro_batch: 1, micro_batches: 4}\n"
    "parallel: {tensor: 1, pipeline: 1}\ncompute: {tflops_per_gpu: 60, utilisation: 0.4}\ncheckpoint: {write_GBps: 10}\n"
)
LLDP = (
    '{"lldp": {"interface": [{"enp1s0f0np0": {"chassis": {"dgx-spark-0002": {}}, "port": {"id": {"type": "ifname", '
    '"value": "enp1s0f1np1"}}}}]}}\n'
)
NOTHING_TO_WATCH = "nothing to watch"
REFUSED = {  # format of an export → its error for such a site
    "prometheus": NOTHING_TO_WATCH,
    "prometheus-snmp": NOTHING_TO_WATCH,
    "network-operator": "no fabric has a `network_operator`",
}
WORKS = [
    "plan s.yaml",
    "plan s.yaml --json",
    "plan s.yaml --against s.yaml",
    "generate s.yaml",
    "generate s.yaml --check",
    "check s.yaml",
    "check s.yaml --format sarif",
    "diff s.yaml s.yaml",
    "explain s.yaml f.spines",
    "explain s.yaml f.links",
    "explain s.yaml f.ecn",
    "explain s.yaml 10.128.0.1",
    "explore s.yaml --vary kind=ring,back-to-back --jobs 1",
    "report s.yaml -o r.html",
    "estimate s.yaml",
    "estimate s.yaml --collective alltoall --json",
    "step s.yaml --job job.yaml",
    "goodput s.yaml --job job.yaml",
    "compare s.yaml s.yaml",
    "utilisation s.yaml --jobs jobs.yaml",
    "capacity s.yaml",
    "capacity s.yaml --json",
    "bom s.yaml",
    "bom s.yaml --json",
    "cabling list s.yaml",
    "cabling list s.yaml --format csv",
    "cabling labels s.yaml -o l.pdf",
    *(f"export {name} s.yaml -o out-{name.replace('/', '-')}" for name in FORMATS if name not in REFUSED),
]


@pytest.mark.parametrize("site", SITES)
def test_every_command(site: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SITES[site], encoding="utf-8")
    (tmp_path / "job.yaml").write_text(STEP, encoding="utf-8")
    (tmp_path / "jobs.yaml").write_text("jobs:\n  - {gpus: 1, hours: 1, count: 3}\n", encoding="utf-8")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "x.json").write_text("{}", encoding="utf-8")
    failed = []
    for line in WORKS:
        done = run(line + (" --rail 1" if "svg-rail" in line else " --plane 1" if "svg-plane" in line else ""))
        if done.code:
            failed.append((line, done.code, done.err[:300] or done.out[:300]))
    assert failed == []
    refused = {"verify s.yaml state": "no switch", **{f"export {name} s.yaml -o x": text for name, text in REFUSED.items()}}
    for line, code in refused.items():
        done = run(line)
        assert done.code == 2
        assert code in done.err


def test_cables_as_servers_report_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SITES["ring"], encoding="utf-8")
    (tmp_path / "dgx-spark-0001.json").write_text(LLDP, encoding="utf-8")
    done = run("cabling verify s.yaml dgx-spark-0001.json")
    assert "1 of 3 links as planned" in done.out
    wrong = LLDP.replace("0002", "0003")
    (tmp_path / "dgx-spark-0001.json").write_text(wrong, encoding="utf-8")
    assert run("cabling verify s.yaml dgx-spark-0001.json").code == 1
