"""The test that is advised next: the one whose outcome has most information about the cause per minute."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabric.base.schemas.models import document
from fabric.solver.doctor.causes import NEEDS, Check, Effect, advised, causes, checks
from fabric.solver.doctor.diagnosis import DECIDED, DiagnosisDocument
from fabric.solver.doctor.examine import lines
from tests.solver.doctor.runs import output
from tests.solver.doctor.test_doctor import examined

EVEN = {"socket": 0.5, "peer_dma": 0.5}


def test_every_cause_is_shown_by_a_test() -> None:
    shown = {cause for check in checks() for _, named in check.outcomes for cause in named}
    assert shown == {cause.name for cause in causes()}
    for check in checks():
        assert check.minutes > 0
        assert set(check.needs) <= set(NEEDS)
        named = [cause for _, causes_ in check.outcomes for cause in causes_]
        assert len(named) == len(set(named)), check.command


def test_bits_are_those_of_a_test_that_errs_in_one_of_ten() -> None:
    check = Check("run", 1.0, (), None, (("seen", ("socket",)),))
    assert check.bits(EVEN) == pytest.approx(0.531, abs=1e-3)  # 1 - H(0.1)
    assert check.bits({"socket": 1.0}) == pytest.approx(0.0, abs=1e-9)
    assert check.bits({"peer_dma": 0.5, "": 0.5}) == pytest.approx(0.0, abs=1e-9)


def test_a_cheap_test_comes_first_and_one_that_was_made_is_not_advised() -> None:
    first, *others = advised(EVEN, {"network"}, "", 0.03)
    assert first.command.startswith("ibv_devinfo")
    assert first.outcomes == (("no port in state PORT_ACTIVE", ("socket",)),)
    assert first.bits / first.minutes >= max(item.bits / item.minutes for item in others)
    again = advised(EVEN, {"network"}, "hca_id:\tmlx5_0", 0.03)
    assert again[0].command.startswith("lsmod")


def test_a_test_needs_what_the_design_has_and_tells_something() -> None:
    one_server = {"nvlink_down": 0.5, "nvls_off": 0.5}
    commands = " ".join(item.command for item in advised(one_server, {"inside", "nvlink"}, "", 0.03))
    assert "nvidia-smi nvlink --status" in commands
    assert "ib_write_bw" not in commands
    assert advised({"": 1.0}, set(NEEDS), "", 0.03) == ()


def test_a_run_without_a_log_gets_a_test_and_a_decided_one_none(tmp_path: Path) -> None:
    found = examined(tmp_path, output(effect=Effect(net=0.5)))
    assert found.suspects[0].share < DECIDED
    text = "\n".join(lines(found))
    assert f"undecided: the first cause has {found.suspects[0].share:.1%}".replace("%", " %") in text
    assert re.search(r"^   run   .* \(\d+ minutes?\)$", text, re.MULTILINE)
    (first, *_) = document(found, DiagnosisDocument)["tests"]
    assert first["outcomes"][0]["causes"]
    line = "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"
    slow = output(effect=next(cause for cause in causes() if cause.name == "peer_dma").effects[1])
    decided = examined(tmp_path, slow, f"host:1:1 [0] NCCL INFO {line}")
    assert decided.suspects[0].share >= DECIDED
    assert decided.tests == ()
    assert document(decided, DiagnosisDocument)["tests"] == []
    assert examined(tmp_path, output()).tests == ()
