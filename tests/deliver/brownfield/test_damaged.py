"""Folders with a damaged config: nothing is drafted of what is left of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.sources.combined import ImportRequest

INTENT = """\
version: 1
site: here
fabrics:
  backend:
    nos: sonic
    servers: {model: dgx-h100, count: 4}
    topology: {switch: sn5600, unit: {servers: 4}, tiers: 2, spine: {min_count: 2}}
"""


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, "configs/backend-leaf001/config_db.json: error[FAB290]: expected a config, got an empty file"),
        (400, "configs/backend-leaf001/config_db.json:5: error[FAB290]: backend-leaf001: not JSON"),
        (3000, "error[FAB290]: backend-leaf001: not JSON"),
    ],
)
def test_a_config_that_is_cut_off_stops_the_import(
    length: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.yaml").write_text(INTENT, encoding="utf-8")
    pipeline.generate(pipeline.load(Path("here.yaml")), jobs=1).write()
    Path("generated/here/configs").rename("configs")
    path = Path("configs/backend-leaf001/config_db.json")
    path.write_text(path.read_text(encoding="utf-8")[:length], encoding="utf-8")
    request = ImportRequest(sources=(Path("configs"),), output=Path("new/dc1.yaml"), site="dc1", jobs=1)
    with pytest.raises(InputError, match="FAB290") as caught:
        pipeline.import_site(request)
    assert expected in str(caught.value)
    assert not Path("new").exists()
