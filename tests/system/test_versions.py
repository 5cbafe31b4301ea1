"""Lower bounds that are true, and the same output whatever versions of Python and of packages there are.

`make test-lowest` and `make test-newest` run this in environments of their own, where FABRIC_VERSIONS and FABRIC_REFERENCE
are set.
"""

from __future__ import annotations

import io
import os
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.version import Version

from tests import ROOT
from tests.system.conftest import FABRIC
from tests.system.versions import lower_bounds

WHICH = os.environ.get("FABRIC_VERSIONS", "")  # lowest, newest
REFERENCE = os.environ.get("FABRIC_REFERENCE", "")  # `fabric` of another environment
COMMANDS = (  # OUT is a file or folder; stdout and what is written have to be equal
    "plan intent/evpn-lab.yaml --json",
    "plan intent/starter.yaml --against intent/evpn-lab.yaml --json",
    "check intent/evpn-lab.yaml --format json",
    "check intent/evpn-lab.yaml --format sarif",
    "diff intent/starter.yaml intent/h100-4su.yaml --format json",
    "estimate intent/h100-4su.yaml --sweep 64K:8G --collective alltoall --fail backend-spine001 --json",
    "capacity intent/evpn-lab.yaml --json",
    "estimate intent/h100-4su.yaml --sweep 64K:8G --plot OUT",
    "model score tests/reference/collectives --json",
    "explore intent/h100-4su.yaml --vary switch=sn5600,7060dx5-64s --vary tiers=2,3 --json --plot OUT",
    "report intent/evpn-lab.yaml -o OUT",
    "bom intent/evpn-lab.yaml --format json --format xlsx=OUT",
    "cabling list intent/starter.yaml -o OUT --format csv,xlsx,json",
    "cabling labels intent/starter.yaml -o OUT",
    "export svg intent/evpn-lab.yaml",
    "export graphml intent/starter.yaml",
    "export ansible intent/evpn-lab.yaml -o OUT",
    "export kubernetes intent/starter.yaml -o OUT",
    "export prometheus intent/starter.yaml -o OUT",
    "headroom --switch sn5600 --speed 400 --length 40 --json",
    "schema",
)


@pytest.mark.parametrize("name", lower_bounds())
def test_lower_bounds(name: str) -> None:
    """What is installed is what is asked for: the bound itself in the environment of the lowest versions."""
    bound, installed = Version(lower_bounds()[name]), Version(version(name))
    assert installed == bound if WHICH == "lowest" else installed >= bound


@pytest.mark.skipif(not REFERENCE, reason="make test-lowest and make test-newest compare two environments")
@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_output_in_both_environments(command: str, tmp_path: Path) -> None:
    assert _output(str(FABRIC), command, tmp_path / "this") == _output(REFERENCE, command, tmp_path / "other")


def _output(fabric: str, command: str, folder: Path) -> dict[str, object]:
    """Exit code, stdout, and what was written: workbooks and PDFs by their content, all else byte for byte."""
    folder.mkdir()
    out = folder / "out"
    words = [word.replace("OUT", str(out)) for word in command.split()]
    done = subprocess.run([fabric, *words], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    written = {str(path.relative_to(folder)): content(path.read_bytes()) for path in files}
    return {"code": done.returncode, "stdout": done.stdout.replace(str(out).encode(), b"OUT"), **written}


def content(data: bytes) -> object:
    """The cells of a workbook, the texts of a PDF, else the bytes."""
    if data.startswith(b"PK"):
        import openpyxl

        book = openpyxl.load_workbook(io.BytesIO(data))
        return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}
    if data.startswith(b"%PDF"):
        from pypdf import PdfReader

        return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]
    return data


@pytest.mark.parametrize("words", ["", "plan", "estimate", "lab up", "cabling labels", "push netbox"])
def test_help(words: str) -> None:
    """The library that parses command lines has broken this in the past."""
    done = subprocess.run([str(FABRIC), *words.split(), "--help"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.lstrip().startswith(f"Usage: fabric {words}".rstrip())


def test_usage_error() -> None:
    done = subprocess.run([str(FABRIC), "plan"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.rstrip().endswith("Error: Missing argument 'FILE'.")
