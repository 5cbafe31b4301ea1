"""Both ends of every server cable of an example, read back from the files: SONiC switches and their servers agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.hosts.agree import Disagreement, HostFiles, SwitchEnd, disagreements
from fabric.hosts.facts import facts_of
from fabric.hosts.read_sonic import read_sonic
from fabric.hosts.view import hosts, sides
from tests.system.conftest import ROOT


def found(site: str, folder: Path, change: dict[str, tuple[str, str]]) -> list[Disagreement]:
    """What the check finds in a generated folder; `change`: suffix of a file → (pattern, replacement) planted in it."""

    def text(path: Path) -> str:
        content = path.read_text(encoding="utf-8")
        for suffix, (pattern, new) in change.items():
            if path.name.endswith(suffix):
                content, count = re.subn(pattern, new, content, count=1, flags=re.MULTILINE)
                assert count, f"{path}: nothing to change"
        return content

    ends: dict[tuple[str, str], SwitchEnd] = {}
    for path in sorted((folder / "configs").rglob("config_db.json")):
        ends |= read_sonic(path.read_text(encoding="utf-8"))
    made = pipeline.plan(pipeline.load(ROOT / "intent" / f"{site}.yaml"))
    result: list[Disagreement] = []
    seen = 0
    for host in hosts(sides(made, facts_of)):
        group = folder / "hosts" / "_groups" / host.group
        roce, nccl = (group.with_name(f"{host.group}.{kind}") for kind in ("roce.sh", "nccl.env"))
        files = HostFiles(text(folder / "hosts" / host.name / "60-fabric.yaml"), text(roce), text(nccl))
        own = {port: end for (server, port), end in ends.items() if server == host.name}
        assert set(own) == {nic.name for nic in host.nics}
        seen += len(own)
        result += disagreements(host, files, own)
    assert seen
    return result


@pytest.mark.parametrize("site", ["ai-sonic", "starter", "gb300-twin-plane"])
def test_hosts_and_switches_agree(site: str, examples: Path) -> None:
    assert found(site, examples / site, {}) == []


@pytest.mark.parametrize(
    ("suffix", "pattern", "new"),
    [
        ("nccl.env", r"NCCL_IB_TC=104", "NCCL_IB_TC=96"),
        ("60-fabric.yaml", r'"(10\.128\.\d+\.)(\d+)/31"', r'"\g<1>200/31"'),
        ("60-fabric.yaml", r"mtu: \d+", "mtu: 9300"),
    ],
)
def test_what_is_wrong_is_found(suffix: str, pattern: str, new: str, examples: Path) -> None:
    assert found("starter", examples / "starter", {suffix: (pattern, new)})
