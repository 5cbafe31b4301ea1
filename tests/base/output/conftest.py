from pathlib import Path

import pytest


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "generated" / "ams1"
