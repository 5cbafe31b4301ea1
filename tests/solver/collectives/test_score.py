"""The estimate against measured tables: the shipped parameters, and parameters that never saw what they predict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fabric.cli import main
from fabric.solver.collectives.physics import gpu, shipped, transport
from fabric.solver.collectives.score import BANDS, score
from fabric.solver.collectives.validation import HeldOutFit, predict
from fabric.solver.measured.tables import Table, read

REFERENCES = Path("tests/reference/collectives")
MORE = Path("tests/reference/collectives-more")
LIMITS = {"<=64K": 13, "64K-8M": 16, "8M-256M": 9, ">256M": 10}  # percent


def tables(folder: Path) -> list[Table]:
    return [table for path in sorted(folder.glob("*.yaml")) for table in read(path)]


def test_shipped_parameters_meet_the_reference_tables():
    found = score(tables(REFERENCES), shipped()).as_dict()
    assert found["rows"] == 422
    assert found["mdape"] <= 8
    assert found["p90"] <= 35
    for band, limit in LIMITS.items():
        assert found["bands"][band]["mdape"] <= limit, band


def test_shipped_parameters_meet_further_tables():
    """Published tables of other clusters; Slingshot's rendezvous has no term in the model."""
    others = [table for table in tables(MORE) if table.platform.transport != "slingshot"]
    assert len(others) > 140
    found = score(others, shipped()).as_dict()
    assert found["mdape"] <= 12
    assert found["bands"][">256M"]["mdape"] <= 5


def test_every_reference_table_is_scored_or_says_why():
    found = score(tables(REFERENCES), shipped())
    assert len(found.tables) == 23
    assert found.not_scored == {"simai_ratio_tables": "ratios, not rows; the cluster is not stated"}


@pytest.mark.slow
def test_a_source_that_was_left_out_is_predicted():
    """One source of the cross-validation that `make accuracy` runs whole, with the references alone."""
    references = [table for table in tables(REFERENCES) if table.scored_rows]
    lambda_only = [table for table in references if table.id == "lambda_b200_2n_allreduce"]
    rest = [table for table in references if table.id != "lambda_b200_2n_allreduce"]
    (found,) = predict(HeldOutFit("source", "dstack", tuple(rest), tuple(lambda_only)))
    assert "dstack" in found.source
    assert found.is_known
    assert len(found.error) == 29
    assert sorted(abs(found.error))[14] < 0.12


def test_json_is_the_contract(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["score", str(REFERENCES / "aws_p5_1n_allreduce.yaml"), "--json"])
    assert stop.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) >= {"rows", "mdape", "bands", "tables"}
    assert list(found["bands"]) == list(BANDS)
    assert found["rows"] == found["tables"]["aws_p5_1n_allreduce"]["rows"] == 32
    assert sum(band["rows"] for band in found["bands"].values()) == 32


def test_a_platform_that_was_never_measured_says_so(tmp_path, capsys):
    text = (REFERENCES / "b200_1n_allreduce_vultr.yaml").read_text().replace("gpu: b200", "gpu: b999")
    (tmp_path / "new.yaml").write_text(text)
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "new.yaml")])
    assert "GPU b999 is not known: predicted as b300, its nearest relative" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "known", "generation"),
    [
        ("H100", "h100", "hopper"),
        ("NVIDIA H200", "h200", "hopper"),
        ("B999", "b300", "blackwell"),
        ("MI400X", "mi355x", "cdna4"),
    ],
)
def test_gpus_by_name(name, known, generation):
    found = gpu(name)
    assert (found.name, found.generation) == (known, generation)


@pytest.mark.parametrize(
    ("word", "generation", "kind"),
    [
        ("roce", "hopper", "roce"),
        ("rdma (kind not stated)", "ampere", "rdma"),
        ("efa", "hopper", "efa"),
        ("efa", "ampere", "efa1"),
        ("tcpxo", "hopper", "tcpxo"),
        ("carrier pigeon", "hopper", "rdma"),
    ],
)
def test_transports_by_word(word, generation, kind):
    assert transport(word, generation) == kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello: world\n", "expected a measured table"),
        ("just text\n", "a table has `id`, `collective`"),
        ("id: x\ncollective: all_reduced\nplatform: {gpu: h100, gpus_per_node: 8, nodes: 1}\nrows: []\n", ""),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, capsys, content, message):
    path = tmp_path / "table.txt"
    path.write_text(content)
    with pytest.raises(SystemExit) as stop:
        main(["score", str(path)])
    errors = capsys.readouterr().err
    assert stop.value.code == 2
    assert "error[FAB" in errors
    assert message in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        (
            "transport: infiniband",
            "transport: ethernet",
            "transport ethernet was never measured: predicted from its relatives, the band is not to be trusted",
        ),
        ("collective: all_reduce", "collective: broadcast", "nvls cannot run this broadcast: predicted as NCCL would choose"),
    ],
)
def test_a_substitute_of_the_prediction_is_named(tmp_path, capsys, old, new, note):
    text = (REFERENCES / "h100_ib_2n_allreduce_309.yaml").read_text().replace(old, new)
    if "broadcast" in new:
        text = text.replace("algorithm: auto", "algorithm: nvls")
    (tmp_path / "other.yaml").write_text(text)
    with pytest.raises(SystemExit):
        main(["score", str(tmp_path / "other.yaml"), "--json"])
    assert json.loads(capsys.readouterr().out)["tables"]["h100_ib_2n_allreduce_309"]["notes"][0] == note


def test_nothing_to_score_is_a_mistake(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["score", str(REFERENCES / "simai_ratio_tables.yaml")])
    assert stop.value.code == 2
    assert "expected a table that can be scored, got simai_ratio_tables" in capsys.readouterr().err


def test_two_tables_of_one_name_are_both_listed(capsys):
    path = str(REFERENCES / "aws_p5_1n_allreduce.yaml")
    with pytest.raises(SystemExit):
        main(["score", path, path, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert list(found["tables"]) == ["aws_p5_1n_allreduce", "aws_p5_1n_allreduce (2)"]
    assert found["rows"] == sum(table["rows"] for table in found["tables"].values()) == 64
