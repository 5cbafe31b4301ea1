"""Every document that a command prints for programs, compared with its schema: the commands are taken from the app itself."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from fabric import pipeline
from fabric.api import schemas
from fabric.base import source
from fabric.cli.lazy import COMMANDS, load
from fabric.deliver.inventory.push import SYSTEMS
from fabric.hardware.catalog.models import ServerModel, SwitchModel
from fabric.solver.doctor.causes import Effect
from fabric.solver.estimate.request import EstimateRequest
from fabric.solver.goodput.sections import Checkpoint, Failures
from fabric.solver.training import file as job_file
from tests import ROOT
from tests.cli.conftest import Run
from tests.cli.designs import DESIGNS, write
from tests.deliver.acceptance import clusters as accepted
from tests.deliver.inventory.truth_server import NAUTOBOT, NETBOX, TOKEN, Truth, served
from tests.solver.doctor.runs import output
from tests.solver.utilisation.slurm import slurm

STEP = """\
model: {parameters: 7.0e+9, layers: 32, hidden: 4096, sequence: 4096}
batch: {micro_batches: 8}
parallel: {tensor: 8, sharding: full}
compute: {tflops_per_gpu: 989, utilisation: 0.5}
"""
LADDERS = ROOT / "docs" / "ladders"
TABLES = "tests/reference/collectives"
PRICES = ROOT / "docs" / "prices-example.yaml"
VERSIONS = {"compare": 2, "explore": 2}  # where another than the first
PRINTED = {  # command → schema → command lines, each with one design after the other in the place of `*`
    "plan": {
        "plan": ("plan * --json",),
        "plan-against": ("plan planned.yaml --against two-tier.yaml --json", "plan mixed.yaml --against mixed.yaml --json"),
    },
    "check": {"check": ("check collapsed.yaml --json", "check infiniband.yaml --format json")},
    "diff": {
        "diff": (
            "diff planned.yaml two-fabrics.yaml --size 1G --format json",
            "diff collapsed.yaml small.yaml --size 1G --format json",
            "diff collapsed.yaml collapsed.yaml --no-configs --format json",
        )
    },
    "change apply": {"change-apply": ()},  # needs switches; tests of the engine stand in
    "change plan": {
        "change": (
            "change planned.yaml reboot spine leaf --floor 60% --json",
            "change two-fabrics.yaml drain backend-spine001 --floor 95% --json",
            "change planned.yaml two-fabrics.yaml --floor 10% --format json",
        )
    },
    "drift": {
        "drift": (
            f"drift {ROOT}/intent/ai-eos.yaml {ROOT}/generated/ai-eos/configs --json",
            f"drift {ROOT}/intent/ai-nxos.yaml {ROOT}/generated/three-tier/configs --format json",
        )
    },
    "import": {
        "import": (
            f"import {ROOT}/generated/evpn-lab/configs -o evpn-lab.yaml --json",
            f"import {ROOT}/generated/ai-eos/configs -o imported.yaml --format json --model storage-leaf001=7060dx5-32",
            "import --from netbox --site dc1 -o imported.yaml --json",
            "import --from nautobot --site dc1 -o imported.yaml --json",
        )
    },
    "verify": {"verify": (f"verify {ROOT}/intent/evpn-lab.yaml {ROOT}/docs/backend-leaf001-state.txt --json",)},
    "estimate": {
        "estimate": (
            "estimate collapsed.yaml --json",
            "estimate planned.yaml --collective alltoall --size 1G --fail backend-spine001 --json",
            "estimate rail-only.yaml --size 8 --size 1G --placement packed --placement spread --json",
            "estimate mixed.yaml --gpus 8 --size 1G --algorithm ring --json",
        )
    },
    "capacity": {
        "capacity": (
            "capacity collapsed.yaml --json",
            "capacity rail-only.yaml --json",
            "capacity two-fabrics.yaml --fabric storage --json",
            "capacity planned.yaml --fail backend-spine001 --pairs 3 --json",
        )
    },
    "step": {
        "step": (
            "step collapsed.yaml --job step.yaml --json",
            "step planned.yaml --job step.yaml --gpus 8 --json",
            "step planned.yaml --job step.yaml --placement spread --fail backend-leaf001:1 --json",
        ),
        "step-vary": ("step planned.yaml --job step.yaml --vary parallel.tensor=4,8,7 --vary batch.micro_batch=1,2 --json",),
    },
    "goodput": {
        "goodput": (
            "goodput collapsed.yaml --job goodput.yaml --json",
            f"goodput planned.yaml --job goodput.yaml --gpus 8 --prices {PRICES} --json",
        ),
        "goodput-vary": ("goodput planned.yaml --job goodput.yaml --gpus 8 --vary failures.restart_s=60,900 --json",),
        "reach": (
            "goodput planned.yaml --job goodput.yaml --gpus 8 --vary failures.restart_s=60,90 --reach useful=0.5 --json",
        ),
    },
    "utilisation": {
        "utilisation": (
            f"utilisation two-fabrics.yaml --jobs jobs.yaml --prices {PRICES} --json",
            "utilisation planned.yaml --jobs sacct.json --placement packed --json",
        )
    },
    "compare": {
        "compare": (
            f"compare collapsed.yaml planned.yaml --job goodput.yaml --gpus 8 --prices {PRICES} --json",
            "compare planned.yaml --job goodput.yaml --json",
            f"compare rail-only.yaml two-fabrics.yaml --size 64M --prices {PRICES} --json",
            "compare two-fabrics.yaml --fabric storage --json",
        ),
    },
    "doctor": {"doctor": ("doctor planned.yaml doctor.log --json",)},
    "acceptance judge": {"acceptance-judge": ("acceptance judge gates.json runs.log --intent planned.yaml --json",)},
    "model score": {
        "score": (f"model score {ROOT / TABLES} --json", f"model score {ROOT / TABLES}-more --json"),
        "score-step": (f"model score --step {LADDERS}/llama-405b-gb200.yaml --json",),
    },
    "headroom": {
        "headroom": (
            "headroom --switch sn5600 --speed 400 --length 40 --json",
            "headroom --asic tomahawk5 --speed 800 --length 5 --traffic dynamic --json",
            "headroom --switch 64x400g --speed 400 --length 300 --json",
        )
    },
    "catalog": {
        "catalog": ("catalog --json", "catalog sn5600 --json", "catalog dgx-h100 --json", "catalog 64x400g --json"),
        "vendors": ("catalog --os --json",),
        "catalog-power": ("catalog --power --json",),
        "catalog-power-check": ("catalog --power-check --json",),
    },
    "explore": {
        "explore": (
            "explore collapsed.yaml --vary switch=sn5600,sn5400 --vary tiers=2,3 --jobs 1 --json",
            f"explore small.yaml --vary unit=1,4 --jobs 1 --collective alltoall --prices {PRICES} --json",
        )
    },
    "explain": {"explain": ("explain fab102 --json", "explain FAB233 --json", "explain --json")},
    "bom": {
        "bom": (
            "bom * --json",
            f"bom collapsed.yaml --prices {PRICES} --rack-limit 5 --no-servers --json",
        )
    },
    "cabling list": {"cabling-list": ("cabling list collapsed.yaml --json", "cabling list two-fabrics.yaml --format json")},
    "cabling verify": {
        "cabling-verify": (
            "cabling verify starter.yaml --device backend-leaf001=empty.txt --source eos --json",
            f"cabling verify {ROOT}/intent/ai-sonic.yaml {ROOT}/docs/leaf001-lldp.txt --json",
        )
    },
    "lab test": {"lab-test": ()},  # needs root; its goldens stand in
    "push netbox": {"push": ("push netbox collapsed.yaml --dry-run --json", "push netbox collapsed.yaml --json")},
    "push nautobot": {"push": ("push nautobot collapsed.yaml --dry-run --json", "push nautobot collapsed.yaml --json")},
}
JOBS = [
    *sorted((ROOT / "docs").glob("step-*.yaml")),
    ROOT / "docs" / "goodput-70b.yaml",
    LADDERS / "gpt-175b.yaml",
    LADDERS / "llama-405b.yaml",
]
LINES = [(name, line) for found in PRINTED.values() for name, lines in found.items() for line in lines]
GOLDENS = {  # but for those of hostile texts
    "lab-test": "lab/[aef]*.json",
    "cabling-verify": "verify/report.json",
    "diff": "diff/*.json",
    "plan-against": "cli/against-*.json",
}


def leaves(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, Any]]:
    """Every command below one, with its whole name."""
    below = getattr(command, "commands", None)
    if below is None:
        yield " ".join(words), command
    for name, one in (below or {}).items():
        yield from leaves((*words, name), one)


def speaks_json(command: Any) -> bool:
    return any("--json" in option.opts or ("--format" in option.opts and "json" in option.help) for option in command.params)


def test_no_command_is_forgotten() -> None:
    commands = dict(found for name in COMMANDS for found in leaves((name,), load(name)))
    assert {name for name, command in commands.items() if speaks_json(command)} == set(PRINTED)
    assert {name for found in PRINTED.values() for name in found} == set(schemas.names())


@pytest.mark.parametrize("name", schemas.names())
def test_schemas_are_valid_closed_and_have_a_version(name: str, run: Run) -> None:
    schema = json.loads(schemas.text(name))
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == f"urn:fabricwright:{name}:{VERSIONS.get(name, 1)}"
    for part in parts(schema):
        if "properties" in part:
            assert part["additionalProperties"] is False
            old = {key for key, value in part["properties"].items() if value.get("deprecated")}
            assert not old & set(part.get("required", ()))
    done = run(f"schema {name}")
    assert (done.code, done.err, json.loads(done.out)) == (0, "", schema)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from parts(value)
    if isinstance(schema, dict):
        yield schema


def test_the_schema_of_the_catalog_is_that_of_its_models() -> None:
    """With the defaults, for keys that have theirs are not printed."""
    made = TypeAdapter(SwitchModel | ServerModel).json_schema()["$defs"]
    committed = json.loads(schemas.text("catalog"))["$defs"]
    assert committed.keys() == made.keys()
    for name, model in made.items():
        assert committed[name].get("required") == model.get("required")
        assert [(key, found.get("default")) for key, found in committed[name]["properties"].items()] == [
            (key, found.get("default")) for key, found in model["properties"].items()
        ]


def test_an_unknown_document(run: Run) -> None:
    done = run("schema estimat")
    assert (done.code, done.out) == (2, "")
    assert "error[FAB106]: unknown document 'estimat'" in done.err
    assert "did you mean 'estimate'?" in done.err


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The designs, a job, and servers to push to."""
    for name in DESIGNS:
        write(tmp_path, name, f"{name}.yaml")
    small = (tmp_path / "collapsed.yaml").read_text(encoding="utf-8").replace("count: 12", "count: 8")
    (tmp_path / "small.yaml").write_text(small, encoding="utf-8")
    (tmp_path / "starter.yaml").write_text((ROOT / "intent" / "starter.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "step.yaml").write_text(STEP, encoding="utf-8")
    (tmp_path / "jobs.yaml").write_text("jobs: [{gpus: 8, hours: 1, count: 9}, {gpus: 100000, hours: 1}]\n", encoding="utf-8")
    (tmp_path / "sacct.json").write_text(slurm([(8, 0, 60), (16, 30, 600)]), encoding="utf-8")
    (tmp_path / "goodput.yaml").write_text(f"{STEP}checkpoint: {{write_GBps: 10}}\n", encoding="utf-8")
    (tmp_path / "doctor.log").write_text(output(effect=Effect(net=0.5)), encoding="utf-8")
    made = pipeline.plan(pipeline.load(tmp_path / "planned.yaml"))
    gates = pipeline.acceptance(made, made.fabrics["backend"], EstimateRequest(routing="", queue_pairs=0))
    (tmp_path / "gates.json").write_text(gates.text(), encoding="utf-8")
    slow = accepted.logs(gates, {"server-" + gates.steps[2].groups[0].runs[0].servers[0]: lambda _: 0.5})
    (tmp_path / "runs.log").write_text("".join(slow.values()), encoding="utf-8")
    (tmp_path / "empty.txt").write_text('{"lldpNeighbors": []}\n', encoding="utf-8")
    with served(Truth(NETBOX)) as netbox, served(Truth(NAUTOBOT)) as nautobot:
        for system, url in (("netbox", netbox), ("nautobot", nautobot)):
            monkeypatch.setenv(SYSTEMS[system].url, url)
            monkeypatch.setenv(SYSTEMS[system].token, TOKEN)
        yield


@pytest.mark.parametrize(("name", "line"), LINES, ids=[line.replace(str(ROOT), "") for _, line in LINES])
def test_documents_are_as_their_schema_says(name: str, line: str, run: Run, files: None) -> None:
    if line.startswith(("push ", "import --from")):
        pytest.importorskip("pynetbox", reason="pynetbox is not installed")
        pytest.importorskip("pynautobot", reason="pynautobot is not installed")
    if line.startswith("import --from"):
        assert run(f"push {line.split()[2]} planned.yaml").code == 0
    for design in DESIGNS if "*" in line else ("",):
        done = run(line.replace("*", f"{design}.yaml"))
        assert done.code in (0, 1), done.err
        validate(name, json.loads(done.out))


@pytest.mark.parametrize("name", GOLDENS)
def test_goldens_are_as_their_schema_says(name: str) -> None:
    found = sorted((ROOT / "tests" / "golden").glob(GOLDENS[name]))
    assert found
    for path in found:
        validate(name, json.loads(path.read_text(encoding="utf-8")))


def validate(name: str, document: Any) -> None:
    """The document fits, and would not with a key more or less."""
    schema = json.loads(schemas.text(name))
    judge = Draft202012Validator(schema)
    assert [f"{error.json_path}: {error.message}" for error in judge.iter_errors(document)] == []
    if "properties" not in schema:
        return
    assert not judge.is_valid({**document, "unknown": 1})
    for key in schema["required"]:
        less = copy.copy(document)
        del less[key]
        assert not judge.is_valid(less)


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.name)
def test_the_jobs_of_the_docs_match_the_schema_of_job_files(path: Path) -> None:
    schema = json.loads(pipeline.schema("job"))
    Draft202012Validator.check_schema(schema)
    data = source.read(path).data
    assert [error.message for error in Draft202012Validator(schema).iter_errors(data)] == []


def test_the_schema_of_job_files_has_every_key() -> None:
    sections = json.loads(pipeline.schema("job"))["properties"]
    found = {f"{name}.{key}": item for name, section in sections.items() for key, item in section["properties"].items()}
    kinds = {"checkpoint": Checkpoint, "failures": Failures}
    beside = {f"{section}.{item.name}" for section, kind in kinds.items() for item in fields(kind)}
    assert found.keys() == {*job_file.all_keys(), *beside}
    assert [key for key, item in found.items() if not item.get("description")] == []
