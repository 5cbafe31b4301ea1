"""A wheel in an empty environment generates configs outside the checkout."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests import ROOT


@pytest.mark.slow
def test_wheel(tmp_path: Path) -> None:
    def run(*command: str) -> str:
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check")
    run(sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", "wheels", str(ROOT))
    (wheel,) = (tmp_path / "wheels").glob("fabricwright-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"fabric", "fabricwright"}
    assert "fabric/py.typed" in names
    assert [name for name in names if name.endswith("/docs.py")] == []  # they make pages, of no use there
    venv.create(tmp_path / "empty")
    python = str(tmp_path / "empty/bin/python")
    # Not compiled: a few modules of all that come with it are imported below.
    run(sys.executable, *pip, "--python", python, "install", "--no-compile", str(wheel))
    fabric = str(tmp_path / "empty/bin/fabric")
    run(fabric, "init", "dc1", "-o", "dc1.yaml")
    assert "4 unchanged" not in run(fabric, "generate", "dc1.yaml")
    assert (tmp_path / "generated/dc1/configs/backend-leaf001/config_db.json").is_file()
    where = run(python, "-c", "import fabric; print(fabric.__file__)")
    assert str(ROOT) not in where
