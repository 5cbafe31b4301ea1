"""`fabric report`: the file that it writes, measured tables, and messages about wrong options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.cli.report import report
from fabric.deliver.report.page import page
from fabric.deliver.report.study import ReportRequest
from fabric.model.plan.spec import Origin
from tests import ROOT
from tests.deliver.report.designs import write
from tests.deliver.report.page_reader import Page
from tests.goldens import golden

MEASURED = """\
id: our-run
collective: {collective}
source: lab
platform: {{gpu: h100, gpus_per_node: 8, nodes: 32, nics_per_node: 8, nic_gbps: 400, transport: roce}}
rows:
  - {{bytes: 1048576, oop: {{time_us: 150.0, algbw_GBps: 6.99, busbw_GBps: 13.93}}}}
"""


def run(file: Path, output: Path, **options: object) -> None:
    """As the command line calls it."""
    asked = {"fabric": "", "collective": "", "size": "8G", "fail": [], "platform": None, "measured": []}
    more = {"no_load": False, "since": "", "model": None, "gpus": None, "prices": None}
    report([file], output, **(asked | more | options))  # type: ignore[arg-type]


def test_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = write(tmp_path, "small"), tmp_path / "report.html"
    run(file, output)
    assert output.read_text(encoding="utf-8") == page(
        pipeline.plan(pipeline.load(file)), ReportRequest(origin=Origin(file.as_posix()))
    )
    messages = capsys.readouterr()
    assert (messages.out, messages.err.splitlines()[-1]) == ("", f"wrote {output}")


def test_a_change_in_waves(tmp_path: Path) -> None:
    file, output = write(tmp_path, "small"), tmp_path / "report.html"
    earlier = tmp_path / "earlier.yaml"
    earlier.write_text(re.sub(r"count: (\d+)", "count: 2", file.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    run(file, output, since=str(earlier))
    text = output.read_text(encoding="utf-8")
    assert '<section id="change" class="rest">' in text
    assert "of which leaves at least 90.0 % of the capacity." in text
    run(file, output)
    assert '<section id="change"' not in output.read_text(encoding="utf-8")


def test_one_fabric_alone(tmp_path: Path) -> None:
    run(write(tmp_path, "two-fabrics"), tmp_path / "report.html", fabric="storage")
    found = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert [fabric["name"] for fabric in found.data["fabrics"]] == ["storage"]


def test_measured_rows_are_dots_of_the_chart(tmp_path: Path) -> None:
    table = tmp_path / "run.yaml"
    table.write_text(MEASURED.format(collective="all_reduce"), encoding="utf-8")
    run(write(tmp_path, "small"), tmp_path / "report.html", measured=[table])
    found = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "measured: our-run" in found.messages
    assert "1 MiB: 13.93 GB/s" in found.messages


BAD = {
    "size": ({"size": "8Q"}, "--size: error[FAB102]: expected a size of 8 bytes to 4 TiB, got '8Q'"),
    "collective": ({"collective": "all_reduc"}, "--collective: error[FAB174]: unknown collective 'all_reduc'"),
    "fabric": ({"fabric": "backen"}, "--fabric: error[FAB106]: unknown fabric 'backen'"),
    "fail": ({"fail": ["backend-spine009"]}, "--fail: error[FAB170]: unknown switch or server 'backend-spine009'"),
    "cut": ({"fail": [f"backend-spine00{n}" for n in range(1, 5)]}, "--fail: error[FAB171]: the fabric is partitioned"),
    "folder": ({"output": "nowhere/x.html"}, "-o: error[FAB102]: expected an existing folder"),
    "is a folder": ({"output": "."}, "-o: error[FAB102]: expected a file, got the folder"),
    "platform": ({"platform": "intent"}, "small.yaml:1:1: error[FAB172]: expected a platform file"),
    "measured": ({"measured": "alltoall"}, "run.yaml: error[FAB172]: expected a table of all_reduce, got alltoall"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_options_are_reported_and_nothing_is_written(tmp_path: Path, case: str) -> None:
    options, message = BAD[case]
    file, table = write(tmp_path, "small"), tmp_path / "run.yaml"
    table.write_text(MEASURED.format(collective="alltoall"), encoding="utf-8")
    asked: dict[str, object] = dict(options)
    output = tmp_path / str(asked.pop("output", "report.html"))
    asked |= {"platform": file} if case == "platform" else {}
    asked |= {"measured": [table]} if case == "measured" else {}
    with pytest.raises(InputError) as error:
        run(file, output, **asked)
    assert re.search(re.escape(message), str(error.value))
    assert not (tmp_path / "report.html").exists()


def test_measured_needs_gpus(tmp_path: Path) -> None:
    table = tmp_path / "run.yaml"
    table.write_text(MEASURED.format(collective="all_reduce"), encoding="utf-8")
    with pytest.raises(InputError, match="expected a compute fabric with GPUs, got web"):
        run(write(tmp_path, "no-gpus"), tmp_path / "report.html", measured=[table])


def test_words_of_a_page(tmp_path: Path) -> None:
    """What a reader without script sees, pictures and the list of terms left out."""
    text = page(pipeline.plan(pipeline.load(ROOT / "intent" / "starter.yaml")), ReportRequest())
    messages = Page(re.sub(r'<svg.*?</svg>|<section id="terms".*?</section>', "", text, flags=re.DOTALL)).lines
    golden("report/starter.txt", messages)
