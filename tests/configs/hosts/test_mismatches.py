"""Both ends of a cable, compared as texts: what agrees, and every fault that one can plant."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from fabric.configs.hosts import host_files
from fabric.configs.hosts.mismatches import HostFiles, SwitchEnd, disagreements
from fabric.configs.hosts.view import hosts, sides
from fabric.model.plan import Plan
from fabric.nos.reading import read_device
from tests.configs.hosts.helpers import QOS, ends_of, lossless_facts, plan, site

END = SwitchEnd(
    dscp=26,
    priority=3,
    cnp_dscp=48,
    cnp_priority=6,
    mtu=9216,
    address="10.128.0.0",
    peer_address="10.128.0.1/31",
    pfc_priorities=(3,),
    lossless_percent=60,
)
ENDS = {"compute1": END, "compute2": replace(END, address="10.128.0.32", peer_address="10.128.0.33/31")}


def found(ends: dict[str, SwitchEnd] | None = None, made: Plan | None = None, **changes: tuple[str, str]) -> list[str]:
    """Disagreements of the first server, its texts changed: a pattern, and what is put in its place."""
    made = made or plan()
    files = {path: data.decode() for path, data in host_files(made, facts_of=lossless_facts)}
    texts = {
        "netplan": files["hosts/gpu-0001/60-fabric.yaml"],
        "roce": files["hosts/_groups/gpu.roce.sh"],
        "nccl": files["hosts/_groups/gpu.nccl.env"],
    }
    for name, (pattern, replacement) in changes.items():
        texts[name], count = re.subn(pattern, replacement, texts[name])
        assert count, f"{pattern} is not in {name}"
    host = next(iter(hosts(sides(made, lossless_facts))))
    return [f"{d.id} {d.file}: {d.message}" for d in disagreements(host, HostFiles(**texts), ends or ENDS)]


def test_both_ends_agree() -> None:
    assert found() == []


def test_nccl_runs_on_the_compute_nics_alone() -> None:
    """Storage NICs on the same leaves have a class of their own, which the environment of a job says nothing about."""
    nics = {"compute": {"count": 2, "speed_gbps": 400}, "storage": {"count": 1, "speed_gbps": 400}}
    intent = site(
        topology={"kind": "collapsed", "switch": "16x400g", "unit": {"servers": 2}},
        servers={"model": "node", "count": 2, "name": "gpu", "nics": ["compute", "storage"], "homing": {"compute": "single"}},
    )
    intent["catalog"]["servers"]["node"]["nics"] = nics
    ends = {"compute1": replace(END, dscp=34), "storage1": replace(END, dscp=34)}
    differences = [text for text in found(ends, plan(intent)) if text.startswith("FAB457")]
    assert differences == [
        "FAB457 nccl.env: compute1: NCCL_IB_TC: expected 136 (DSCP 34) as on backend-leaf001, got 104 (DSCP 26)"
    ]


BOTH = ("compute1", "compute2")


@pytest.mark.parametrize(
    ("file", "pattern", "replacement", "expected"),
    [
        (
            "netplan",
            r'"10\.128\.0\.1/31"',
            '"10.128.0.5/31"',
            ["FAB450 60-fabric.yaml: compute1: address: expected 10.128.0.1/31 as on backend-leaf001, got 10.128.0.5/31"],
        ),
        (
            "netplan",
            r'addresses: \["10\.128\.0\.1/31"\]',
            "addresses: []",
            ["FAB450 60-fabric.yaml: compute1: address: expected 10.128.0.1/31 as on backend-leaf001, got none"],
        ),
        (
            "netplan",
            r"    compute2:",
            "    compute3:",
            ["FAB450 60-fabric.yaml: compute2: interface: expected it as on backend-leaf002, got none of that name"],
        ),
        (
            "netplan",
            r'via: "10\.128\.0\.0", table',
            'via: "10.128.0.2", table',
            [
                "FAB451 60-fabric.yaml: compute1: gateway: expected 10.128.0.0 as on backend-leaf001, "
                "got 10.128.0.0, 10.128.0.2"
            ],
        ),
        (
            "netplan",
            r'from: "10\.128\.0\.1"',
            'from: "10.128.0.33"',
            [
                "FAB451 60-fabric.yaml: compute1: source with a table of its own: expected 10.128.0.1/31 as on "
                "backend-leaf001, got 10.128.0.33"
            ],
        ),
        (
            "netplan",
            "mtu: 9000",
            "mtu: 9500",
            [
                f"FAB452 60-fabric.yaml: {nic}: MTU: expected at most 9216 as on backend-leaf00{n}, got 9500"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            "mtu 9000",
            "mtu 9500",
            [
                f"FAB452 roce.sh: {nic}: MTU: expected at most 9216 as on backend-leaf00{n}, got 9500"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r" 26:3 ",
            " 26:4 ",
            [
                f"FAB453 roce.sh, dcb: {nic}: priority of DSCP 26: expected 3 as on backend-leaf00{n}, got 4"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r" 25:0 ",
            " ",
            [
                f"FAB453 roce.sh, dcb: {nic}: DSCPs in priority 3: expected 26 as on backend-leaf00{n}, got 25, 26"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r"3:on",
            "3:on 4:on",
            [
                f"FAB454 roce.sh, dcb: {nic}: priorities with PFC: expected 3 as on backend-leaf00{n}, got 3, 4"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r"--pfc 0,0,0,1,0",
            "--pfc 0,0,0,1,1",
            [
                f"FAB454 roce.sh, mlnx_qos: {nic}: priorities with PFC: expected 3 as on backend-leaf00{n}, got 3, 4"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r'put 106 ("/sys/kernel)',
            r"put 98 \1",
            [
                f"FAB453 roce.sh: {nic}: DSCP in default_roce_tos: expected 26 as on backend-leaf00{n}, got 24"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r"put 106 (.*traffic_class)",
            r"put 104 \1",
            [
                f"FAB453 roce.sh: {nic}: ECN bits in traffic_class: expected 2 as on backend-leaf00{n}, got 0"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            "roce_rp/enable/3",
            "roce_rp/enable/5",
            [
                f"FAB453 roce.sh: {nic}: priority with ECN: expected 3 as on backend-leaf00{n}, got 5"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r"put 48 (.*/cnp_dscp)",
            r"put 46 \1",
            [
                f"FAB455 roce.sh: {nic}: DSCP of CNP in cnp_dscp: expected 48 as on backend-leaf00{n}, got 46"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r"tc-tsa all:strict",
            "tc-tsa all:ets",
            [
                f"FAB455 roce.sh, dcb: {nic}: priority 6 of CNP: expected strict as on backend-leaf00{n}, got weighted"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "roce",
            r"0:40 3:60",
            "0:50 3:50",
            [
                f"FAB456 roce.sh, dcb: {nic}: percent of priority 3: expected 60 as on backend-leaf00{n}, got 50"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "nccl",
            "NCCL_IB_TC=104",
            "NCCL_IB_TC=96",
            [
                f"FAB457 nccl.env: {nic}: NCCL_IB_TC: expected 104 (DSCP 26) as on backend-leaf00{n}, got 96 (DSCP 24)"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
        (
            "nccl",
            "NCCL_IB_TC=104",
            "",
            [
                f"FAB457 nccl.env: {nic}: NCCL_IB_TC: expected 104 (DSCP 26) as on backend-leaf00{n}, got 0 (DSCP 0)"
                for n, nic in enumerate(BOTH, 1)
            ],
        ),
    ],
)
def test_an_injected_fault_is_found(file: str, pattern: str, replacement: str, expected: list[str]) -> None:
    assert found(**{file: (pattern, replacement)}) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"dscp": 24}, {"FAB453", "FAB457"}),
        ({"priority": 4}, {"FAB453", "FAB456"}),
        ({"pfc_priorities": (3, 4)}, {"FAB454"}),
        ({"pfc_priorities": ()}, {"FAB454"}),
        ({"cnp_dscp": 46}, {"FAB455"}),
        ({"mtu": 1500}, {"FAB452"}),
        ({"address": "10.128.0.2"}, {"FAB451"}),
        ({"peer_address": "10.128.0.3/31"}, {"FAB450", "FAB451"}),
        ({"lossless_percent": 50}, {"FAB456"}),
        ({"dscp": None, "priority": None, "cnp_dscp": None, "mtu": None, "lossless_percent": None}, set()),
    ],
)
def test_another_word_of_the_switch_is_found(change: dict[str, Any], expected: set[str]) -> None:
    assert {line.split()[0] for line in found({"compute1": replace(END, **change)})} == expected


def test_a_lossless_port_whose_host_has_no_script() -> None:
    assert found(roce=("(?s).*", "")) == [
        f"FAB454 roce.sh: {nic}: priorities with PFC: expected 3 as on backend-leaf00{n}, got none"
        for n, nic in enumerate(BOTH, 1)
    ]


# --- SONiC --------------------------------------------------------------------------------------------------

CONFIG_DB: dict[str, Any] = {
    "PORT": {"Ethernet0": {"mtu": "9216"}, "Ethernet8": {"mtu": "9216"}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.128.0.0/31": {}, "Ethernet8": {}},
    "DEVICE_NEIGHBOR": {
        "Ethernet0": {"name": "gpu-0001", "port": "compute1"},
        "Ethernet8": {"name": "backend-spine001", "port": "Ethernet0"},
    },
    "DSCP_TO_TC_MAP": {"ROCE": {str(dscp): {26: "3", 48: "6"}.get(dscp, "0") for dscp in range(64)}},
    "TC_TO_QUEUE_MAP": {"ROCE": {str(n): str(n) for n in range(8)}},
    "PORT_QOS_MAP": {"Ethernet0": {"dscp_to_tc_map": "ROCE", "tc_to_queue_map": "ROCE", "pfc_enable": "3"}},
    "SCHEDULER": {
        "lossy": {"type": "DWRR", "weight": "40"},
        "roce": {"type": "DWRR", "weight": "60"},
        "cnp": {"type": "STRICT"},
    },
    "QUEUE": {
        "Ethernet0|0": {"scheduler": "lossy"},
        "Ethernet0,Ethernet8|3": {"scheduler": "roce"},
        "Ethernet0|5-6": {"scheduler": "cnp"},
    },
}


def read_sonic(text: str) -> dict[tuple[str, str], SwitchEnd]:
    return ends_of(read_device("leaf1", "sonic", {"config_db.json": text}))


def test_sonic_says_what_its_config_says() -> None:
    ends = read_sonic(json.dumps(CONFIG_DB))
    assert ends["gpu-0001", "compute1"] == END
    assert ends["backend-spine001", "Ethernet0"] == SwitchEnd(
        dscp=None,
        priority=None,
        cnp_dscp=None,
        cnp_priority=None,
        mtu=9216,
        address=None,
        peer_address=None,
        pfc_priorities=(),
        lossless_percent=None,
    )
    assert found({"compute1": ends["gpu-0001", "compute1"]}) == []


def test_sonic_with_two_lossless_queues_disagrees() -> None:
    changed = json.loads(json.dumps(CONFIG_DB))
    changed["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"] = "3,4"
    end = read_sonic(json.dumps(changed))["gpu-0001", "compute1"]
    assert (end.priority, end.pfc_priorities) == (None, (3, 4))
    assert {line.split()[0] for line in found({"compute1": end})} == {"FAB454"}


def test_a_sonic_leaf_as_it_is_rendered_agrees() -> None:
    from fabric.configs.render import render
    from fabric.configs.view_of import Views
    from fabric.nos.target import target

    topology = {"switch": "sn5600", "unit": {"servers": 2}}
    made = plan(nos="sonic", topology=topology)
    fabric = made.fabrics["backend"]
    ends = {}
    for leaf in (device for device in fabric.switches if device.role == "leaf"):
        rendered = render(Views(made, fabric).of(leaf), target("sonic"))
        text = next(file.text for file in rendered if file.path == "config_db.json")
        ends |= {port: end for (server, port), end in read_sonic(text).items() if server == "gpu-0001"}
    assert list(ends) == ["compute1", "compute2"]
    own = {name: replace(end, pfc_priorities=(QOS.priority,)) for name, end in ends.items() if not end.pfc_priorities}
    assert found({**ends, **own}, made) == []
