"""The commands are imported one by one; what the list says of each is what its own help says."""

import subprocess
import sys
from pathlib import Path

import pytest

from fabric.cli.lazy import COMMANDS, load, renamed
from tests import ROOT

SHARED = {"common", "options", "lazy", "output", "terminal", "__init__"}
PARTS = {"calibrate", "score", "systems"}  # of `model` and of `catalog`
OLD = {  # a command line of the last release → as it is written now
    "score t.yaml --json": "model score t.yaml --json",
    "calibrate t.yaml -o p.yaml": "model calibrate t.yaml -o p.yaml",
    "vendors": "catalog --os",
    "netbox push d.yaml": "push netbox d.yaml",
    "netbox import --site d -o d.yaml": "import --from netbox --site d -o d.yaml",
    "nautobot push d.yaml": "push nautobot d.yaml",
    "nautobot import --site d -o d.yaml": "import --from nautobot --site d -o d.yaml",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name: str) -> None:
    assert load(name).get_short_help_str(500) == COMMANDS[name]


def test_every_command_file_is_listed() -> None:
    files = {
        path.stem if path.stem.startswith("__") else path.stem.rstrip("_") for path in (ROOT / "fabric" / "cli").glob("*.py")
    }
    assert files - SHARED - PARTS == set(COMMANDS)


@pytest.mark.parametrize("old", OLD)
def test_a_name_of_the_last_release_works_and_says_the_new_one(old: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert renamed(old.split()) == OLD[old].split()
    assert f"is now `fabric {' '.join(OLD[old].split()[:2])}" in capsys.readouterr().err


def test_a_command_imports_no_other(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom fabric.cli import main\ntry:\n    main(['schema'])\nexcept SystemExit:\n    pass\n"
        f"print(sorted(name for name in {tuple(COMMANDS)} if f'fabric.cli.{{name}}' in sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == "['schema']\n"
