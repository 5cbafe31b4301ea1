"""Output of other commands as evidence: what each says of a cause, and nothing of text of another kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric.base.diagnostics import InputError
from fabric.pipeline import doctor
from fabric.solver.doctor import evidence
from fabric.solver.doctor.causes import NEEDS, Effect, causes
from fabric.solver.doctor.diagnosis import MIN_LISTED, Diagnosis
from fabric.solver.doctor.evidence import Design, Evidence, log_findings
from fabric.solver.doctor.examine import lines
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.measured.tables import Measured
from tests.solver.doctor.runs import fabric, output, write

CAUSES = {cause.name: cause for cause in causes()}
REQUEST = EstimateRequest(routing="adaptive", queue_pairs=4)
TOPOLOGY = """\
        GPU0    GPU1    NIC0    NIC1    CPU Affinity    NUMA Affinity   GPU NUMA ID
GPU0     X      {inside}    {near}     SYS     0-47,96-143     0               N/A
GPU1    {inside}     X      SYS     {near}     48-95,144-191   1               N/A
NIC0    {near}     SYS      X      SYS
NIC1    SYS     {near}     SYS      X

NIC Legend:

  NIC0: mlx5_0
"""
IBSTAT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tPort 1:
\t\tState: Active
\t\tPhysical state: LinkUp
\t\tRate: 400
CA 'mlx5_1'
\tCA type: MT4129
\tPort 1:
\t\tState: {state}
\t\tPhysical state: LinkUp
\t\tRate: {rate}
"""
IBSTATUS = """\
Infiniband device 'mlx5_0' port 1 status:
        base lid:        0x2ed
        state:           4: ACTIVE
        phys state:      5: LinkUp
        rate:            100 Gb/sec (4X EDR)
        link_layer:      InfiniBand
"""
PERFTEST = """\
{cuda}
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF          Device         : mlx5_0
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[{unit}/sec]    BW average[{unit}/sec]   MsgRate[Mpps]
 65536      5000             1.00              {average}              0.741437
---------------------------------------------------------------------------------------
"""


def found(text: str, nics: int = 2, nic_gbps: float = 400, nvlink: bool = True) -> list[tuple[str, str]]:
    """(cause, + or -) of every finding."""
    return [(item.cause, "+" if item.weight > 1 else "-") for item in evidence.output_findings(text, nics, nic_gbps, nvlink)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TOPOLOGY.format(inside="NV18", near="PIX"), [("pcie_path", "-")]),
        (TOPOLOGY.format(inside="NV18", near="NODE"), [("pcie_path", "+")]),
        (TOPOLOGY.format(inside="PHB ", near="PXB"), [("pcie_path", "-"), ("p2p_off", "+")]),
        (IBSTAT.format(state="Active", rate=400), []),
        (IBSTAT.format(state="Active", rate=200), [("slow_server", "+")]),
        (IBSTAT.format(state="Down", rate=400), [("slow_server", "+")]),
        (IBSTAT.format(state="Active", rate=400) + IBSTATUS, []),  # a port of another network may be slower
        (IBSTATUS, [("slow_server", "+")]),
        ("hca_id:\tmlx5_0\n\tport:\t1\n\t\tstate:\t\t\tPORT_DOWN (1)\n", [("slow_server", "+")]),
        ("hca_id:\tmlx5_0\n\tport:\t1\n\t\tstate:\t\t\tPORT_ACTIVE (4)\n", []),
        (PERFTEST.format(cuda="initializing CUDA", unit="Gb", average=190.0), [("peer_dma", "+"), ("pcie_path", "+")]),
        (PERFTEST.format(cuda="initializing CUDA", unit="MB", average=46500.0), [("peer_dma", "-"), ("pcie_path", "-")]),
        (PERFTEST.format(cuda="", unit="Gb", average=190.0), [("pcie_path", "+"), ("slow_server", "+")]),
        (PERFTEST.format(cuda="", unit="Gb", average=392.0), [("pcie_path", "-"), ("slow_server", "-")]),
        ("GPU0 is hot\nRate: 100\n", []),
        ("", []),
    ],
)
def test_what_an_output_says(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected
    assert evidence.is_known_output(text) or not expected


def test_without_the_speed_of_a_port_no_port_is_judged() -> None:
    text = IBSTATUS + PERFTEST.format(cuda="", unit="Gb", average=10.0)
    assert found(text, nics=0, nic_gbps=0) == []


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("LnkSta:\tSpeed 8GT/s (downgraded), Width x16 (ok)", "pcie_path"),
        ("ACSCtl:\tSrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-", "peer_dma"),
        ("mlx5_core 0000:c1:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link", "pcie_path"),
        (
            "        GPU Link Info\n            Link Width\n                Max : 16x\n                Current : 8x",
            "pcie_path",
        ),
        ("UCX_IB_PCI_RELAXED_ORDERING=no", "pcie_path"),
        ('NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!', "peer_dma"),
        ("iommu: Default domain type: Translated", "peer_dma"),
        ('<net name="mlx5_0" dev="0" speed="400000" port="1" gdr="0"/>', "peer_dma"),
        ("export FI_PROVIDER=tcp", "socket"),
        ("No IB devices found", "socket"),
        ("     out_of_sequence: 48211", "packet_loss"),
        ("symbol_error: 17", "slow_server"),
        ("        HW Slowdown                       : Active", "slow_server"),
        ("Device=0 CANNOT Access Peer Device=1", "p2p_off"),
        (" GPU0   X       CNS     CNS     CNS", "p2p_off"),
        ("NVRM: Xid (PCI:0000:4e:00): 74, pid=2841", "nvlink_down"),
        ("NUMA auto balancing enabled which can lead to variability in the RCCL performance!", "cpu_binding"),
        ("Cpus_allowed_list:\t12", "cpu_binding"),
        ("Link 3: <inactive>", "nvlink_down"),
        ("    Fabric\n        State                             : In Progress", "nvlink_down"),
        ("    Fabric\n        State   : Completed\n        Status  : Insufficient Resources", "nvlink_down"),
        ("NCCL INFO MNNVL busId 0xb0000 fabric UUID 7a4a.c4fe cliqueId 0x7ffe state 2 healthMask 0x0", "nvlink_down"),
        ("NCCL INFO NCCL_NET_GDR_C2C set by environment to 0.", "peer_dma"),
        ("h:1:2 [0] NCCL INFO Setting affinity for GPU 3 to 00000000,00000008", "cpu_binding"),
        ("h:1:2 [0] NCCL INFO Channel 00/0 : 1[0] -> 0[0] [receive] via NET/Socket/0", "socket"),
        ("h:1:2 [0] NCCL INFO Topology detection : could not read /sys/devices/x, ignoring", "wrong_topology"),
        ("NCCL_TOPO_FILE=/opt/topo.xml", "wrong_topology"),
    ],
)
def test_lines_that_are_often_posted(line: str, cause: str) -> None:
    evidence = Evidence(line + "\n")
    pointed = [name for name, item in CAUSES.items() if evidence.points_to(item)]
    assert pointed == [cause]


@pytest.mark.parametrize(
    "line",
    [
        "link_downed: 0",
        "out_of_sequence: 12",
        "HW Slowdown                       : Not Active",
        "pci 0000:05:00.0: 4.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x1 link at 0000:00:1c.1",
        "mlx5_core 0000:c1:00.0: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)",
        "Cpus_allowed_list:\t0-47,96-143",
        "    Fabric\n        State             : Completed\n        Status            : Success",
        "mlx5_core 0002:01:00.0: mlx5_pcie_event:326:(pid 3202): Detected insufficient power on the PCIe slot (27W).",
        "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",  # runs every algorithm but trees
        "BOOT_IMAGE=/boot/vmlinuz root=UUID=1 ro intel_iommu=on iommu=pt",
    ],
)
def test_lines_of_healthy_servers(line: str) -> None:
    assert not [name for name, item in CAUSES.items() if Evidence(line + "\n").points_to(item)]


@pytest.mark.parametrize(
    "line",
    [
        "Channel 07/0 : 0[0] -> 15[7] [send] via NET/IBext_v8/0(7)/GDRDMA",
        "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA(PCI)",
        "Channel 01 : 9[101d0] -> 0[101c0] [send] via NET/AWS Libfabric/0/GDRDMA",
    ],
)
def test_a_network_with_gpudirect_is_neither_sockets_nor_without_it(line: str) -> None:
    evidence = Evidence(line + "\n")
    assert [(item.cause, item.weight < 1) for item in log_findings(line, Design())] == [("peer_dma", True)]
    assert evidence.excludes(CAUSES["socket"]) == CAUSES["socket"].weight
    assert not evidence.points_to(CAUSES["peer_dma"])


@pytest.mark.parametrize(
    ("line", "cause", "need"),
    [
        ("NCCL_NET_PLUGIN=none", "socket", "plugin"),
        ("NCCL INFO MNNVL busId 0xb0000 fabric UUID 0.0 cliqueId 0x0 state 3 healthMask 0x0", "nvlink_down", "rack"),
    ],
)
def test_a_line_of_healthy_runs_elsewhere_counts_on_its_design_only(line: str, cause: str, need: str) -> None:
    evidence = Evidence(line + "\n")
    assert evidence.points_to(CAUSES[cause], {need})
    assert not evidence.points_to(CAUSES[cause], set(NEEDS) - {need})


def test_links_that_the_driver_refuses_are_down_or_off() -> None:
    evidence = Evidence("NCCL WARN P2P is disabled between NVLINK connected GPUs 1 and 0. This should not be the case\n")
    assert [name for name, item in CAUSES.items() if evidence.points_to(item)] == ["p2p_off", "nvlink_down"]


def test_a_missing_plugin_counts_where_the_network_needs_one() -> None:
    evidence = Evidence("NCCL INFO NET/Plugin: Could not find: libnccl-net.so. Using internal net plugin.\n")
    assert evidence.points_to(CAUSES["socket"], {"network", "plugin"})
    assert not evidence.points_to(CAUSES["socket"], {"network"})


def examined(folder: Path, *texts: str, given: tuple[Measured, ...] = ()) -> Diagnosis:
    files = [write(folder, text, f"run{number}.log") for number, text in enumerate(texts)]
    return doctor(fabric(), files, REQUEST, given)


def test_the_output_of_a_command_decides_among_equal_causes(tmp_path: Path) -> None:
    run = output(effect=Effect(net=0.5))
    ports = "".join(IBSTAT.format(state="Active", rate=400).replace("mlx5_", f"mlx5_{number}") for number in range(3))
    with_ports = examined(tmp_path, run, ports + IBSTATUS)
    assert with_ports.suspects[0].cause.name == "slow_server"
    assert with_ports.suspects[0].evidence == "6 of 8 ports at 400 Gb/s: mlx5_0 active 100 Gb/s"
    assert with_ports.advice == ""
    with_distance = examined(tmp_path, run, TOPOLOGY.format(inside="NV18", near="SYS"))
    assert with_distance.suspects[0].cause.name == "pcie_path"


def test_one_number_is_a_run(tmp_path: Path) -> None:
    slow = examined(tmp_path, given=(Measured("all_reduce", 64, 1 << 30, 60.0),))
    assert len(slow.suspects) >= MIN_LISTED
    assert [(span.first_bytes, span.last_bytes) for span in slow.spans] == [(1 << 30, 1 << 30)]
    assert lines(slow)[-1].endswith("as further files")
    good = Measured("all_reduce", 64, 1 << 30, 350.0)
    assert examined(tmp_path, given=(good,)).suspects == ()
    known = doctor(fabric(), [], REQUEST, (good,), slow=True)
    assert known.suspects
    assert known.healthy == 0
    with pytest.raises(InputError, match="no run to compare"):
        examined(tmp_path)


def test_few_nics_needs_several(tmp_path: Path) -> None:
    assert "nics" in CAUSES["few_nics"].needs
    found = examined(tmp_path, output(effect=Effect(net=0.125)), "NCCL INFO NET/IB : Using [0]mlx5_0:1/IB [RO]\n")
    assert found.suspects[0].evidence == "1 of 8 NICs"
