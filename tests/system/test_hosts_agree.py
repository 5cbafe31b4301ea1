"""Both ends of every server cable of an example, read back from the files: the switches and their servers agree."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from fabric import pipeline
from fabric.configs.hosts.facts import facts_of
from fabric.configs.hosts.mismatches import Disagreement, HostFiles, SwitchEnd, disagreements
from fabric.configs.hosts.view import hosts, sides
from fabric.nos.reading import read_device
from tests import ROOT
from tests.configs.hosts.helpers import ends_of
from tests.system.conftest import Run

AI = {  # site → the file of its leaves that faults are planted in
    "ai-cumulus": "startup.yaml",
    "ai-eos": "startup-config",
    "ai-frr": "interfaces",
    "ai-junos": "juniper.conf",
    "ai-nxos": "startup-config",
    "ai-sonic": "config_db.json",
}


def found(site: str | Path, folder: Path, change: dict[str, tuple[str, str]]) -> list[Disagreement]:
    """What the check finds in a generated folder; `change`: end of a path → (pattern, replacement) planted in that file."""

    def text(path: Path) -> str:
        if not path.exists():
            return ""
        content = path.read_text(encoding="utf-8")
        for suffix, (pattern, new) in change.items():
            if path.as_posix().endswith(suffix):
                content, count = re.subn(pattern, new, content, count=1, flags=re.MULTILINE)
                assert count, f"{path}: nothing to change"
        return content

    made = pipeline.plan(pipeline.load(site if isinstance(site, Path) else ROOT / "intent" / f"{site}.yaml"))
    ends: dict[tuple[str, str], SwitchEnd] = {}
    for switch in (switch for fabric in made.fabrics.values() for switch in fabric.switches if switch.nos):
        texts = {path.name: text(path) for path in sorted((folder / "configs" / switch.name).iterdir()) if path.is_file()}
        ends |= ends_of(read_device(switch.name, switch.nos, texts))
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


@pytest.mark.parametrize("site", [*AI, "starter", "gb300-twin-plane", "h100-4su", "lab"])
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


PORT = r"(gpu-0001 compute1\b(?:.*\n)+?.*"  # from its description to the nearest line with …
ADDRESS = PORT + r"\b)10\.128\.0\.0/31"
MTU = r"mtu:? )\d+"
ELSEWHERE = {"FAB450", "FAB451"}
OTHER_DSCP = {"FAB453", "FAB457"}
LARGE, NO_PFC = {"FAB452"}, {"FAB454"}
FAULTS = [
    ("ai-sonic", r'"26": "3"', '"26": "0", "24": "3"', OTHER_DSCP),
    ("ai-sonic", r'"26": "3"', '"26": "0"', NO_PFC),
    ("ai-sonic", r'"pfc_enable": "3"', '"pfc_enable": "4"', NO_PFC),
    ("ai-sonic", r'"mtu": "9\d+"', '"mtu": "8900"', LARGE),
    ("ai-sonic", r"Ethernet0\|10\.128\.0\.0/31", "Ethernet0|10.128.0.200/31", ELSEWHERE),
    ("ai-eos", r"^qos map dscp 26 to", "qos map dscp 24 to", OTHER_DSCP),
    ("ai-eos", r"^qos map dscp 26 to traffic-class 3", "qos map dscp 26 to traffic-class 0", NO_PFC),
    ("ai-eos", r"priority 3 no-drop", "priority 4 no-drop", NO_PFC),
    ("ai-eos", PORT + MTU, r"\g<1>8900", LARGE),
    ("ai-eos", ADDRESS, r"\g<1>10.128.0.200/31", ELSEWHERE),
    ("ai-nxos", r"match dscp 26", "match dscp 24", OTHER_DSCP),
    ("ai-nxos", r"set qos-group 3", "set qos-group 0", NO_PFC),
    ("ai-nxos", r"pause pfc-cos 3", "pause pfc-cos 4", {"FAB453", "FAB454", "FAB456"}),
    ("ai-nxos", PORT + MTU, r"\g<1>8900", LARGE),
    ("ai-nxos", ADDRESS, r"\g<1>10.128.0.200/31", ELSEWHERE),
    (
        "ai-cumulus",
        r"^    qos:$",
        "    qos:\n      mapping: {default-global: {dscp: {'26': {switch-priority: 0}}}}",
        OTHER_DSCP,
    ),
    ("ai-cumulus", r"(ROCE-3M:\n(?:.*\n)+?.*)'3': {}", r"\1'4': {}", {"FAB453", "FAB454", "FAB456", "FAB457"}),
    ("ai-cumulus", PORT + MTU, r"\g<1>8900", LARGE),
    ("ai-cumulus", ADDRESS, r"\g<1>10.128.0.200/31", ELSEWHERE),
    ("ai-junos", r"code-points 011010", "code-points 011000", NO_PFC),
    (
        "ai-junos",
        r"(?s)(code-points? )011010(.*)(code-point )011010(.*)(code-point )011010",
        r"\g<1>011000\2\g<3>011000\4\g<5>011000",
        OTHER_DSCP,
    ),
    ("ai-junos", r"pfc-priority 3", "pfc-priority 4", NO_PFC),
    ("ai-junos", r"code-point 011 ", "code-point 100 ", NO_PFC),
    ("ai-junos", PORT + r"inet {\n.*" + MTU, r"\g<1>8900", LARGE),
    ("ai-junos", PORT + MTU, r"\g<1>8900", LARGE),
    ("ai-junos", ADDRESS, r"\g<1>10.128.0.200/31", ELSEWHERE),
    ("ai-frr", PORT + MTU, r"\g<1>8900", LARGE),
    ("ai-frr", ADDRESS, r"\g<1>10.128.0.200/31", ELSEWHERE),
]


@pytest.mark.parametrize(("site", "pattern", "new", "expected"), FAULTS)
def test_a_fault_of_a_switch_is_found(site: str, pattern: str, new: str, expected: set[str], examples: Path) -> None:
    file = f"backend-leaf001/{AI[site]}"
    faults = found(site, examples / site, {file: (pattern, new)})
    assert {fault.id for fault in faults} == expected
    assert "gpu-0001" in {fault.device for fault in faults}


@pytest.mark.slow
@pytest.mark.parametrize("site", [site for site in AI if site != "ai-frr"])
def test_classes_with_other_numbers_agree(site: str, tmp_path: Path, fabric: Run) -> None:
    intent = yaml.safe_load((ROOT / "intent" / f"{site}.yaml").read_text(encoding="utf-8"))
    numbers = {"lossless_priority": 4, "lossless_dscp": 24, "cnp_priority": 7, "cnp_dscp": 46, "lossless_percent": 80}
    for name in ("backend", "storage"):
        intent["fabrics"][name]["qos"] = numbers
    path = tmp_path / f"{site}.yaml"
    path.write_text(yaml.safe_dump(intent, sort_keys=False), encoding="utf-8")
    done = fabric("generate", path, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert found(path, tmp_path / site, {}) == []
