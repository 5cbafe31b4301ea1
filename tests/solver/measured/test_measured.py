"""Measured tables: YAML, raw output of every version, JSON reports, and errors for anything else."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.solver.measured import output as measured_json, output as measured_text, tables as measured
from fabric.solver.measured.tables import MeasuredPlatform, Table
from tests import ROOT

REFERENCE = ROOT / "tests" / "reference" / "collectives"

H100 = MeasuredPlatform(
    gpu="h100",
    gpus_per_node=8,
    nodes=2,
    nvlink_GBps_per_direction=450,
    nvlink_domain_gpus=8,
    nics_per_node=8,
    nic_gbps=400,
    transport="roce",
)
COLUMNS = (
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
)
UNITS = "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
HEAD = """---
id: mine
source: lab run 7
platform: {gpu: h100, gpus_per_node: 8, nodes: 2, nics_per_node: 8, nic_gbps: 400, transport: roce}
---
"""


def devices(hosts: int, gpus: int, name: str = "NVIDIA H100 80GB HBM3") -> str:
    line = "#  Rank {:2} Group  0 Pid {:6} on host{:02} device {:2} [0000:{:02x}:00] {}"
    ranks = range(hosts * gpus)
    return "\n".join(line.format(n, 100 + n, n // gpus, n % gpus, n % gpus, name) for n in ranks)


def row(
    size: int, out_us: float, in_us: float, factor: float, kind: str = "   float     sum      -1", wrong: str = "0"
) -> str:
    sides = ""
    for time in (out_us, in_us):
        rate = size / time / 1e3
        sides += f"  {time:7.2f}  {rate:6.2f}  {rate * factor:6.2f}  {wrong:>5}"
    return f"{size:12}  {size // 4:12}  {kind}{sides}"


def raw(*rows: str, hosts: int = 2, gpus: int = 8, program: str = "all_reduce_perf") -> str:
    start = f"# Collective test starting: {program}\n# nThread 1 nGpus 1 minBytes 8 maxBytes 64\n#\n# Using devices\n"
    return "\n".join([start + devices(hosts, gpus), "#", COLUMNS, UNITS, *rows, "# Out of bounds values : 0 OK", "#", ""])


def one(tables: list[Table]) -> Table:
    assert len(tables) == 1
    return tables[0]


def error_text(action: object, *arguments: object) -> str:
    with pytest.raises(InputError) as caught:
        action(*arguments)  # type: ignore[operator]
    return str(caught.value)


# YAML


def test_reference_tables_are_read_without_a_warning() -> None:
    tables = [table for path in sorted(REFERENCE.glob("*.yaml")) for table in measured.read(path)]
    assert len(tables) == 24
    assert sum(len(table.scored_rows) for table in tables) == 422
    assert [table.id for table in tables if not table.scored] == ["simai_ratio_tables"]
    assert [str(warning) for table in tables for warning in table.warnings] == []
    assert len({table.source for table in tables}) == 16
    assert {table.source for table in tables if "_309" in table.id} == {"NVIDIA/nccl-tests#309"}


def test_a_row_is_the_better_of_both_places() -> None:
    table = one(measured.read(REFERENCE / "aws_p5_eks_2n_allreduce.yaml"))
    first, second = table.rows[:2]
    assert (first.bytes, first.time_us, round(first.algbw_GBps, 2), round(first.busbw_GBps, 2)) == (
        67108864,
        996.0,
        67.38,
        126.33,
    )
    assert second.time_us == 1725.6  # in place
    assert table.platform.ranks == 16


TABLE = """\
id: t
collective: {collective}
platform: {{gpu: h100, gpus_per_node: 8, nodes: 2, nics_per_node: 8, nic_gbps: 400, transport: RoCEv2{more}}}
rows: {rows}
"""


def yaml(rows: str, more: str = "", collective: str = "AllReduce") -> Table:
    return measured.read_yaml(TABLE.format(collective=collective, rows=rows, more=more), "t.yaml")


@pytest.mark.parametrize(
    ("rows", "times"),
    [
        ("[{bytes: 8, time_us: 12}]", [12]),
        ("[{bytes: 8, oop: {time_us: 12}, ip: null}]", [12]),
        ("[{bytes: 8, oop: {time_us: 12}, ip: {time_us: null}}]", [12]),
        ("[{bytes: 1000000, ip: {algbw_GBps: 10}}]", [100]),
        ("[{bytes: 1000000, ip: {busbw_GBps: 18.75}}]", [100]),
        ("[{bytes: 4, time_us: 9}, {bytes: 8, time_us: 12}]", [9, 12]),
    ],
)
def test_the_ways_to_write_a_row(rows: str, times: list[float]) -> None:
    table = yaml(rows)
    assert [row.time_us for row in table.rows] == pytest.approx(times)
    assert [row.bytes for row in table.scored_rows] == [row.bytes for row in table.rows if row.bytes >= 8]
    assert (table.collective, table.platform.transport, table.source) == ("all_reduce", "roce", "t")


@pytest.mark.parametrize(("rows", "why"), [("[]", "no rows"), ("[{bytes: 4, time_us: 9}]", "no rows of at least 8 bytes")])
def test_tables_that_are_not_scored(rows: str, why: str) -> None:
    table = yaml(rows)
    assert (table.scored, table.why_not, table.scored_rows) == (False, why, ())


def test_a_collective_without_a_model_is_read_and_not_scored() -> None:
    table = yaml("[{bytes: 8, time_us: 9}]", collective="gather")
    assert (table.scored, table.why_not) == (False, "the model knows no gather")


def test_rows_that_contradict_themselves_are_warned_of() -> None:
    table = yaml("[{bytes: 1000000, oop: {time_us: 100, algbw_GBps: 12, busbw_GBps: 10}}]", ", algorithm: mesh")
    assert [str(warning).split("\n")[0] for warning in table.warnings] == [
        "t.yaml:3:114: warning[FAB172]: platform.algorithm: expected auto, ring, tree, nvls, nvls_tree, collnet_direct, "
        "collnet_chain, pat, got 'mesh'; read as auto",
        "t.yaml:4:57: warning[FAB172]: rows[0].oop.algbw_GBps: algbw is 12 GB/s, but 1000000 bytes in 100 µs are 10 GB/s",
        "t.yaml:4:73: warning[FAB172]: rows[0].oop.busbw_GBps: busbw is 10 GB/s, but this collective and these ranks give "
        "18.8 GB/s",
    ]
    assert table.rows[0].algbw_GBps == 10


ROW = "rows: [{bytes: 8, time_us: 1}]\n"


def table_text(rows: str = "[{bytes: 8, time_us: 1}]", more: str = "", collective: str = "reduce") -> str:
    return TABLE.format(collective=collective, rows=rows, more=more)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "version: 1\nsite: dc1\n",
            "w.yaml:1:1: error[FAB172]: expected a measured table, got a mapping",
            "a table has `id`",
        ),
        ("", "w.yaml:1:1: error[FAB007]: expected a measured table, got an empty file", "a table has `id`"),
        ("- 1\n", "w.yaml:1:1: error[FAB007]: expected a mapping, got a list", "a table has `id`"),
        ("rows: [\n", "error[FAB003]: not YAML", ""),
        (
            f"{ROW}platform: 3\ncollective: reduce\n",
            "w.yaml:2:11: error[FAB172]: platform: expected a mapping",
            "its keys are",
        ),
        (f"{ROW}collective: reduce\n", "platform: missing key", "gpus_per_node: 8"),
        (table_text(collective="al_reduce"), "w.yaml:2:13: error[FAB172]: collective: expected a coll", "'all_reduce'?"),
        (table_text("[{bytes: 1.5, time_us: 1}]"), "w.yaml:4:16: error[FAB172]: rows[0].bytes: expected a whole number", ""),
        (table_text("[{bytes: 8, time_us: '1'}]"), "w.yaml:4:28: error[FAB172]: rows[0].time_us: ", "stand without quotes"),
        (table_text("[{bytes: 8, oop: {time_us: 0}}]"), "rows[0].oop.time_us: expected a time above 0", ""),
        (table_text("[{bytes: 8}]"), "rows[0].oop: expected a measured time", ""),
        (table_text("[7]"), "w.yaml:4:8: error[FAB172]: rows[0]: expected a mapping, got 7", ""),
        (table_text(more=", nodes: 2"), "error[FAB005]", ""),
        (
            f"collective: reduce\nplatform: {{gpu: h100, gpus_per_node: 8, nodes: 2}}\n{ROW}",
            "platform.nic_gbps: expected the speed of one of them in Gb/s, it is missing",
            "16 GPUs on 2 nodes are more than one NVLink domain",
        ),
        (
            f"collective: reduce\nplatform: {{gpu: h100, gpus_per_node: -8, nodes: 1}}\n{ROW}",
            "w.yaml:2:38: error[FAB172]: platform.gpus_per_node: expected 1 to 1024, got -8",
            "",
        ),
    ],
)
def test_wrong_yaml_is_reported_with_its_place(text: str, message: str, hint: str) -> None:
    found = error_text(measured.read_yaml, text, "w.yaml")
    assert message in found
    assert hint in found


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"rows: \xff\n")
    assert "FAB003" in error_text(measured.read, tmp_path / "x.yaml")
    assert "FAB001" in error_text(measured.read, tmp_path / "none.yaml")
    (tmp_path / "page.md").write_text("# Title: a\nb: c: d\n")
    found = error_text(measured.read, tmp_path / "page.md", "page.md")
    assert found.startswith("page.md:1:1: error[FAB172]: expected a measured table, got a text that is neither")


# raw text


def test_output_of_one_node_needs_nothing_else() -> None:
    text = raw(row(1 << 20, 40.0, 38.5, 1.75), row(1 << 30, 4038.8, 4043.6, 1.75), hosts=1)
    table = one(measured_text.read_text(text, "logs/night.log"))
    assert (table.id, table.source, table.collective, table.scored) == ("night", "night", "all_reduce", True)
    assert table.platform == MeasuredPlatform(
        gpu="h100", gpus_per_node=8, nodes=1, nvlink_GBps_per_direction=450, nvlink_domain_gpus=8
    )
    assert [(row.bytes, row.time_us) for row in table.rows] == [(1 << 20, 38.5), (1 << 30, 4038.8)]
    assert table.rows[1].busbw_GBps == pytest.approx(465.25, abs=0.01)
    assert table.warnings == ()


def test_several_nodes_need_the_network_from_somewhere() -> None:
    text = raw(row(1 << 20, 40.0, 38.5, 1.875))
    found = error_text(measured_text.read_text, text, "a.log")
    assert "a.log:22:1: error[FAB172]: 16 GPUs on 2 nodes: the text does not say nics_per_node, nic_gbps, transport" in found
    assert "      nodes: 2\n" in found
    assert "    ---\n    platform:\n      gpu: h100\n" in found
    given = one(measured_text.read_text(text, "a.log", H100))
    headed = one(measured_text.read_text(HEAD + text, "a.log"))
    assert given.platform == headed.platform == H100
    assert (headed.id, headed.source) == ("mine", "lab run 7")


def test_the_hint_is_a_head_that_works() -> None:
    text = raw(row(1 << 20, 40.0, 38.5, 1.875))
    hint = error_text(measured_text.read_text, text, "a.log").partition("cluster:\n")[2]
    head = "\n".join(line.removeprefix("    ") for line in hint.splitlines())
    assert one(measured_text.read_text(f"{head}\n{text}", "a.log")).platform == H100


@pytest.mark.parametrize(
    "prefix",
    [
        "[1,0]<stdout>:",
        "0: ",
        "2025-03-01T10:11:12.123456789Z stdout F ",
        "nccl-test-launcher-x7k2p  | ",
        "\x1b[32m[node17] \x1b[0m",
        "    ",
    ],
)
def test_log_prefixes_are_no_hindrance(prefix: str, tmp_path: Path) -> None:
    text = raw(row(64, 40.0, 38.5, 1.875), row(1 << 30, 6038.8, 6043.6, 1.875))
    prefixed = "\n".join(prefix + line for line in text.splitlines())
    (tmp_path / "a.log").write_text(prefixed)
    plain, other = one(measured_text.read_text(text, "a.log", H100)), one(measured.read(tmp_path / "a.log", platform=H100))
    assert plain.rows == other.rows
    assert other.platform == H100


OLD_COLUMNS = "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error"
FIRST_COLUMNS = "#      bytes             N    type      op     time  algbw  busbw      res     time  algbw  busbw      res"
COPY_COLUMNS = COLUMNS.replace("busbw", "busbw copybw")
ITERATIONS = "#  size  count  type  redop  root  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%" + (
    "  time  algbw  busbw  #wrong  i_min  i_max  i_p99  i_cv%"
)


SUM = "1000000 250000 float sum -1"
NONE = "1000000 15625 float none -1"
BOTH = "101.0 9.90 18.56 0 100.0 10.00 18.75 0"


@pytest.mark.parametrize(
    ("columns", "line", "collective", "time_us"),
    [
        # 2.0 to 2.11: the largest difference instead of a count, no root
        (OLD_COLUMNS, "1000000 250000 float sum 101.0 9.90 18.56 2e-07 100.0 10.00 18.75 2e-07", "all_reduce", 100),
        (OLD_COLUMNS, "1000000 250000 float sum 101.0 9.90 18.56 N/A 100.0 10.00 18.75 N/A", "all_reduce", 100),
        # 1.x: milliseconds, behind a hash where nothing was checked
        (FIRST_COLUMNS, "# 10000000 2500000 float sum 0.286 34.98 65.59 0e+00 0.303 32.98 61.84 N/A", "all_reduce", 286),
        # alltoall does not check its in-place result
        (COLUMNS, f"{NONE} 101.0 9.90 9.28 0 102.0 9.80 9.19 N/A", "alltoall", 101),
        (COLUMNS, f"{NONE} 101.0 9.90 9.28 0 102.0 9.80 9.19 0", "all_gather", 101),
        (COLUMNS, "1000000 15625 float sum -1 101.0 9.90 9.28 0 102.0 9.80 9.19 0", "reduce_scatter", 101),
        (COLUMNS, "1000000 250000 half sum 0 101.0 9.90 9.90 0 102.0 9.80 9.80 0", "reduce", 101),
        (COLUMNS, "1000000 250000 bfloat16 none 0 101.0 9.90 9.90 N/A 102.0 9.80 9.80 N/A", "broadcast", 101),
        (COPY_COLUMNS, f"{SUM} 101.0 9.90 18.56 700.1 0 100.0 10.00 18.75 701.2 0", "all_reduce", 100),
        (
            ITERATIONS,
            f"{SUM} 101.0 9.90 18.56 0 90.1 130.2 129.0 4.1 100.0 10.00 18.75 0 91.0 120 119 3.2",
            "all_reduce",
            100,
        ),
        (f"{COLUMNS} timestamp", f"{SUM} {BOTH} 2026-01-02 03:04:05", "all_reduce", 100),
        # only in place is printed
        (COLUMNS, f"{SUM}                      100.0 10.00 18.75 0", "all_reduce", 100),
        # a line of the library printed into the row
        (COLUMNS, f"{SUM} {BOTH}host:8:9 [0] NCCL INFO Channel 00", "all_reduce", 100),
        # times without a decimal point, and as a power of ten
        (COLUMNS, "1000000000 250000000 float sum -1 100000 10.00 18.75 0 1e+05 10.00 18.75 0", "all_reduce", 1e5),
    ],
)
def test_columns_of_every_version(columns: str, line: str, collective: str, time_us: float) -> None:
    table = one(measured_text.read_text(f"{devices(2, 8)}\n{columns}\n{line}\n", "a.log", H100))
    assert table.rows[0].time_us == pytest.approx(time_us)
    assert [str(warning) for warning in table.warnings] == []
    assert table.collective == collective


def test_the_programs_name_says_what_its_columns_do_not() -> None:
    columns = "# size count type time algbw busbw error time algbw busbw error"
    text = f"$ mpirun ./all_gather_perf -b 8\n{columns}\n1000000 15625 float 101.0 9.90 9.28 0e+00 100.0 10.0 9.38 0e+00\n"
    assert one(measured_text.read_text(text, "a.log", H100)).collective == "all_gather"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-40GB", "a100"),
        ("NVIDIA GB200", "gb200"),
        ("NVIDIA GH200 120GB", "gh200"),
        ("Tesla V100-SXM2-32GB", "v100"),
        ("AMD Instinct MI300X", "mi300x"),
        ("NVIDIA B300 SXM6 AC", "b300"),
        ("NVIDIA GeForce RTX 5090", "rtx5090"),
        ("NVIDIA Graphics Device", ""),
    ],
)
def test_gpus_by_the_names_they_print(name: str, kind: str) -> None:
    from fabric.solver.measured.run import gpu_named

    assert gpu_named(name) == kind


def test_two_programs_in_one_log_are_two_tables() -> None:
    text = (
        "NCCL_ALGO=Ring srun all_reduce_perf -b 8\n"
        + raw(row(64, 40.0, 38.5, 1.875))
        + raw(row(1 << 20, 40.0, 38.5, 0.9375, "   float    none      -1"), program="all_gather_perf")
    )
    first, second = measured_text.read_text(text, "a.log", H100)
    assert [(table.id, table.collective, table.platform.algorithm) for table in (first, second)] == [
        ("a-1", "all_reduce", "ring"),
        ("a-2", "all_gather", "auto"),
    ]


def test_a_list_of_devices_that_was_cut_short_still_counts_the_ranks() -> None:
    text = (
        "#  Rank 71 Group  0 Pid  14840 on gb-18 device  3 [0x01] NVIDIA GB200\n"
        + f"{COLUMNS}\n{row(1 << 20, 40, 38, 1.9722)}\n"
    )
    platform = one(measured_text.read_text(text, "a.log")).platform
    assert (platform.nodes, platform.gpus_per_node, platform.nvlink_domain_gpus, platform.transport) == (18, 4, 72, "none")


@pytest.mark.parametrize(
    ("gpu", "gpus", "nodes", "domain", "together", "crosses"),
    [
        ("h100", 8, 1, 8, 8, False),
        ("h100", 8, 2, 8, 8, True),
        ("h100", 1, 2, 8, 1, True),  # one GPU of each of two servers
        ("h100", 8, 2, 4, 4, True),
        ("gb200", 4, 2, 72, 8, False),
        ("gb200", 4, 36, 72, 72, True),
        ("gb200", 4, 2, 8, 8, False),
        ("v100", 16, 2, 16, 16, True),
    ],
)
def test_ranks_of_a_domain(gpu: str, gpus: int, nodes: int, domain: int, together: int, crosses: bool) -> None:
    platform = MeasuredPlatform(gpu=gpu, gpus_per_node=gpus, nodes=nodes, nvlink_domain_gpus=domain)
    assert (platform.domain_ranks, platform.crosses_network) == (together, crosses)


def test_the_head_is_shown_once() -> None:
    text = raw(row(1 << 20, 40.0, 38.5, 1.875))
    found = error_text(measured_text.read_text, text + text, "a.log")
    assert (found.count("FAB172"), found.count("platform:\n")) == (2, 1)


def test_one_process_for_all_gpus_is_noted() -> None:
    text = raw(row(1 << 20, 40.0, 38.5, 1.75), hosts=1).replace("nGpus 1", "nGpus 8")
    text = re.sub(r"Pid +\d+", "Pid 100", text)
    assert one(measured_text.read_text(text, "a.log")).platform.processes == "one for all GPUs"


def test_groups_that_ran_at_once_are_not_scored() -> None:
    text = raw(row(1 << 20, 40.0, 38.5, 1.75), hosts=1)
    twice = text.replace("# Using devices\n", "# Using devices\n" + devices(1, 8).replace("Group  0", "Group  1") + "\n")
    table = one(measured_text.read_text(twice, "a.log"))
    assert (table.platform.ranks, table.why_not) == (8, "2 groups ran at the same time")


def test_a_log_of_another_size_than_the_platform_given_is_counted_by_its_ratio() -> None:
    text = f"{COLUMNS}\n{row(1 << 30, 5800.0, 5900.0, 2 * 95 / 96)}\n"
    table = one(measured_text.read_text(text, "a.log", H100))
    assert (table.collective, table.platform.nodes) == ("all_reduce", 12)
    assert "busbw/algbw shows 96 ranks, the platform given has 16" in str(table.warnings[0])


def test_wrong_results_and_cut_rows_are_warned_of() -> None:
    text = raw(row(64, 40.0, 38.5, 1.875, wrong="3"), "  128  32  float  sum  -1  40.0  NCCL INFO")
    table = one(measured_text.read_text(text, "a.log", H100))
    found = [warning.message for warning in table.warnings]
    assert len(table.rows) == 1
    assert found == [
        "out of place: 3 wrong elements",
        "in place: 3 wrong elements",
        "the row is cut off; it is left out",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\nworld\n", "FAB"),
        (COLUMNS + "\n", "a.log:1:1: error[FAB172]: expected a measured table"),
        (f"{COLUMNS}\n{row(64, 9, 9, 1.0)}\n", "the output does not state its platform: gpu, gpus_per_node, nodes"),
        (f"---\nid: x\n{COLUMNS}\n", "a.log:1:1: error[FAB172]: the YAML header is not closed"),
        (
            f"---\nplatform: {{gpus_per_node: 8, gpu: h100, nodes: x}}\n---\n{COLUMNS}\n{row(64, 9, 9, 1.0)}\n",
            "a.log:2:48: error[FAB172]: platform.nodes",
        ),
        (
            raw(row(64, 40.0, 38.5, 0.875, "   float    none      -1", "N/A"), hosts=1, program="x_bench"),
            "does not state the collective",
        ),
    ],
)
def test_text_that_is_not_enough(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(text)
    assert message in error_text(measured.read, tmp_path / "a.log", "a.log")


# JSON reports


def report(**more: object) -> dict[str, object]:
    side = {"time": 100.0, "alg_bw": 10.0, "bus_bw": 18.75, "nwrong": 0.0}
    listed = [
        {"rank": 8 * n, "group": 0, "pid": 9, "hostname": f"h{n}", "device": 0, "device_info": "NVIDIA H100"} for n in (0, 1)
    ]
    base: dict[str, object] = {
        "version": 3,
        "args": ["/opt/bin/all_reduce_perf", "-J", "x.json"],
        "env": ["NCCL_ALGO=Tree", "NCCL_MIN_CTAS=24", "HOME=/root"],
        "config": {"nthreads": 1, "ngpus": 8, "devices": listed},
        "results": [
            {
                "size": 1000000,
                "count": 250000,
                "type": "float",
                "redop": "sum",
                "root": "    -1",
                "out_of_place": side,
                "in_place": None,
            }
        ],
    }
    return base | more


def test_the_report_of_nccl_tests(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(report()))
    table = one(measured.read(tmp_path / "x.json", platform=H100))
    assert [(row.bytes, row.time_us) for row in table.rows] == [(1000000, 100)]
    assert (table.collective, table.platform.ranks, table.platform.algorithm, table.platform.min_ctas) == (
        "all_reduce",
        16,
        "tree",
        24,
    )
    assert table.platform.processes == "one for all GPUs"
    assert table.warnings == ()


def test_the_report_of_rccl_tests() -> None:
    shape = {"numCycle": 0, "name": "AllReduce", "nodes": 2, "ranks": 16, "ranksPerNode": 8, "gpusPerRank": 1}
    rows = [
        {**shape, "size": 1000000, "type": "float", "redop": "sum", "inPlace": place, "wrong": "0"}
        | {"time": 100.0 - place, "algBw": 10.0, "busBw": 18.75}
        for place in (0, 1)
    ]
    table = one(measured_json.read_json(json.dumps(rows), "r.json", H100))
    assert [(row.bytes, row.time_us) for row in table.rows] == [(1000000, 99)]
    assert (table.collective, table.platform.ranks) == ("all_reduce", 16)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps(report())[:-9], "r.json:1:"),
        (json.dumps(report(results=[])), "got a report without results"),
        (json.dumps(report(results=[{"size": -1}])), "results[0].size: expected bytes, got -1"),
        ("[1, 2]", "[0].size: expected bytes, got nothing"),
    ],
)
def test_reports_that_are_wrong(text: str, message: str) -> None:
    assert message in error_text(measured_json.read_json, text, "r.json", H100)


# whatever comes


@settings(max_examples=90, deadline=None)
@given(
    st.lists(
        st.sampled_from([*raw(row(64, 4.0, 3.5, 1.875)).splitlines(), "---", "rows:", "NCCL INFO", "  64 16 float"])
        | st.text(max_size=30),
        max_size=25,
    )
)
def test_any_mixture_of_lines_is_read_or_refused(lines: list[str]) -> None:
    text = "\n".join(lines)
    try:
        tables = measured_text.read_text(text, "a.log", H100)
    except InputError as error:
        tables, refused = [], error.diagnostics
    else:
        refused = ()
    assert all(row.time_us > 0 for table in tables for row in table.rows)
    assert all(item.code.startswith("FAB") and item.place.file == "a.log" for item in refused)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "results",
                        "config",
                        "devices",
                        "size",
                        "args",
                        "time",
                        "in_place",
                        "rank",
                        "ngpus",
                        "env",
                        "name",
                        "ranks",
                        "nodes",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_is_read_or_refused(data: object) -> None:
    text = json.dumps({"results": data} if not isinstance(data, list | dict) else data)
    tables: list[Table] = []
    with contextlib.suppress(InputError):
        tables = measured_json.read_json(text, "a.json", H100)
    assert all(row.time_us > 0 for table in tables for row in table.rows)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(3, 34), st.integers(200, 9_000_000), st.integers(200, 9_000_000)), min_size=1, max_size=8),
    st.integers(1, 6),
)
def test_what_is_printed_is_what_is_read(rows: list[tuple[int, int, int]], hosts: int) -> None:
    factor = 2 * (hosts * 8 - 1) / (hosts * 8)
    lines = [row(1 << power, out / 100, into / 100, factor) for power, out, into in rows]
    table = one(measured_text.read_text(raw(*lines, hosts=hosts), "a.log", H100))
    assert [(item.bytes, item.time_us) for item in table.rows] == [
        (1 << power, min(out, into) / 100) for power, out, into in rows
    ]
    assert table.platform.nodes == hosts
    assert table.warnings == ()
