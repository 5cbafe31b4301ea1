"""Logs of NCCL_DEBUG=INFO: what connections, channels and the topology say, in the formats of releases 2.10 to 2.28."""

from __future__ import annotations

import pytest

from fabric.solver.doctor import evidence
from fabric.solver.doctor.causes import causes
from fabric.solver.doctor.evidence import Evidence

CAUSES = {cause.name: cause for cause in causes()}
H100 = evidence.Design(nics=8, nic_gbps=400, nvlink=True, crosses=True)
INSIDE = evidence.Design(nics=8, nic_gbps=400, nvlink=True)
PCIE = evidence.Design()
SENDS = "".join(
    f"h:1:2 [{nic}] NCCL INFO Channel 0{nic}/0 : {nic}[{nic}] -> 8[0] [send] via NET/IB/{{}}/GDRDMA\n" for nic in range(4)
)
WHOLE = """\
NCCL version 2.21.5+cuda12.4
h:1:2 [0] NCCL INFO 16 coll channels, 16 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer
h:1:2 [0] NCCL INFO Connected all rings
"""


@pytest.mark.parametrize(
    ("text", "design", "expected"),
    [
        ("Channel 01 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0", H100, ["peer_dma +", "pcie_path +"]),
        ("Channel 07/0 : 0[0] -> 15[7] [send] via NET/IBext_v8/0(7)", H100, ["peer_dma +", "pcie_path +"]),
        ("Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/Shared", H100, ["peer_dma +", "pcie_path +"]),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA(PCI)/Shared", H100, ["peer_dma -"]),
        ("Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0", H100, []),
        ("Channel 00 : 0[4000] -> 1[5000] via direct shared memory", INSIDE, ["p2p_off +"]),  # 2.10
        ("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", PCIE, ["p2p_off +"]),
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read", INSIDE, ["p2p_off -"]),
        (
            "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>",
            H100,
            ["socket -", "packet_loss -", "one_queue_pair -"],
        ),
        ("NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eth0:10.0.0.1<0>", H100, ["socket -", "one_queue_pair -"]),
        ("NET/IB : Using [0]mlx5_bond_0:1/RoCE [RO]; OOB bond0:10.0.0.1<0>", H100, ["socket -"]),
        ("NET/IB : Using [RO]; OOB eth0:10.0.0.1<0>\nNET/Socket : Using [0]eth0:10.0.0.1<0>", H100, ["socket +"]),
        (
            "NET/Socket : Using [0]eth0:10.0.0.1<0>\nNET/IB : Using [0]mlx5_bond_0:1/RoCE ; OOB eth0",
            H100,
            ["socket -"],
        ),  # 2.4
        ("4 coll channels, 0 nvls channels, 4 p2p channels", H100, ["few_channels +", "wrong_topology +"]),
        ("16 coll channels, 16 nvls channels, 16 p2p channels", H100, []),
        ("2 coll channels, 2 p2p channels, 1 p2p channels per peer", PCIE, []),
        (
            "+ PCI[0.2] - PCI/0-65000 (104c823200000000)\n + PCI[48.0] - NIC/0-67000\n + NET[50.0] - NET/0-c",
            H100,
            ["wrong_topology +"],
        ),
        ("+ PCI[12.0] - NIC/67000", H100, ["pcie_path +"]),
        ("+ PCI[48.0] - NIC/67000\n + NET[50.0] - NET/0 (0/1/50.0)", H100, []),
        ("+ NET[25.0] - NET/0 (0/1/25.0)\n+ NET[12.5] - NET/1 (0/1/12.5)", H100, ["slow_server +"]),
        ("Using network Socket\n+ NET[1.2] - NET/0", H100, []),
        (
            "Pattern 4, crossNic 0, nChannels 2, bw 24.000000/24.000000, type NVL/PXB",
            H100,
            ["wrong_topology +", "pcie_path +"],
        ),
        ("Pattern 4, crossNic 0, nChannels 8, bw 48.000000/48.000000, type NVL/PIX", H100, ["wrong_topology -"]),
        (
            "GPU Direct RDMA Disabled for GPU 1b000 / HCA 3 (distance 8 > 5)\n"
            "GPU Direct RDMA Enabled for GPU 1b000 / HCA 0 (distance 4 <= 5), read 1",
            H100,
            [],
        ),
        ("GPU Direct RDMA Disabled for GPU 0 / HCA 0 (distance 9 > 5)", H100, ["peer_dma +", "pcie_path +"]),
        (
            "Channel 00/0 : 0[0] -> 4[0] [send] via NET/IB/0/GDRDMA",
            INSIDE,
            ["peer_dma -", "p2p_off +", "nvlink_down +"],
        ),
        ("", H100, []),
    ],
)
def test_what_a_log_says(text: str, design: evidence.Design, expected: list[str]) -> None:
    found = [f"{item.cause} {'+' if item.weight > 1 else '-'}" for item in evidence.log_findings(text, design)]
    assert found == expected


def test_the_nics_that_nccl_uses() -> None:
    """Named by NCCL_IB_HCA, found, and sent on; the last only where the log has every channel."""
    found = "NET/IB : Using [0]={[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE} [2]mlx5_2:1/RoCE [RO]; OOB eth0:10.0.0.1<0>\n"
    assert Evidence(found).nics == 3
    assert Evidence("NCCL_IB_HCA set to mlx5_0,mlx5_1\n" + found).nics == 2
    assert Evidence("NCCL_IB_HCA==mlx5_0:1\n" + found).nics == 1
    assert Evidence("NCCL_IB_HCA=mlx5\n").nics == 0
    assert Evidence("NCCL_IB_HCA=^mlx5_0\n").nics == 0
    one, each = ("4 coll channels\n" + SENDS.format(*nics) for nics in ((0, 0, 0, 0), (0, 1, 2, 3)))
    assert [Evidence(found + text).nics_with(gpus_for_all=True) for text in (one, each)] == [1, 3]
    assert Evidence(found + one).nics_with(gpus_for_all=False) == 3  # one GPU of a server uses one NIC
    assert Evidence(one).nics_with(gpus_for_all=True) == 1
    assert evidence.used_nics("4 coll channels\n" + SENDS.format(0, 0, 0, 0)) == 1
    assert evidence.used_nics("4 coll channels\n" + SENDS.format(0, 1, 2, 3)) == 4
    assert evidence.used_nics("8 coll channels\n" + SENDS.format(0, 0, 0, 0)) == 0
    assert evidence.used_nics(SENDS.format(0, 0, 0, 0)) == 0


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        (WHOLE, 20),
        (WHOLE + "NCCL_ALGO set by environment to Tree.\n", 1),
        (WHOLE.replace("2.21.5", "2.14.3"), 1),  # prints no variables
        ("NCCL_DEBUG_SUBSYS=INIT,NET\n" + WHOLE, 1),
        ("NCCL_DEBUG_SUBSYS=INIT,ENV\n" + WHOLE, 20),
        ("NCCL version 2.21.5+cuda12.4\n", 1),
    ],
)
def test_a_whole_log_without_a_variable_speaks_against_the_cause_that_needs_one(text: str, weight: float) -> None:
    assert Evidence(text).excludes(CAUSES["forced_algorithm"]) == weight


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        (
            "NET/IB : Got completion from peer 10.0.0.2<1> with status=12 opcode=0 len=0 vendor err 129 (Send)",
            "packet_loss",
        ),  # 2.20
        (
            "NET/IB: Got completion from peer 10.0.0.2<1> with status=IBV_WC_RETRY_EXC_ERR(12)",
            "packet_loss",
        ),
        ("NET/IB: Got completion from peer 10.0.0.2<1> with status=4 opcode=0 len=0 vendor err 81", "peer_dma"),
        ("NET/IB : mlx5_3:1 Got non-fatal async event: port error(10)", "slow_server"),  # 2.23
        ("NET/IB : There are mismatched physical devices between local (mlx5_0) and remote (mlx5_1).", "rails_crossed"),
        ("PXN Disabled as plugin is v4", "pxn"),
        ("NVLS multicast support is not available on dev 0", "nvls_off"),
        ("Assigned NET plugin Socket to comm", "socket"),
        ("NET/OFI Selected provider is tcp, fabric is 10.0.0.0/24 (found 1 nics)", "socket"),
    ],
)
def test_lines_of_one_cause(line: str, cause: str) -> None:
    assert [name for name, item in CAUSES.items() if Evidence(line + "\n").points_to(item)] == [cause]


@pytest.mark.parametrize(
    "line",
    [
        "GPU Direct RDMA Disabled for GPU 1b000 / HCA 3 (distance 8 > 5)",  # of a distant pair
        "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)",
        "NET/OFI Selected Provider is efa (found 4 nics)",
        "Check P2P Type isAllDirectP2p 1 directMode 0",
    ],
)
def test_lines_of_healthy_runs(line: str) -> None:
    assert not [name for name, item in CAUSES.items() if Evidence(line + "\n").points_to(item)]
