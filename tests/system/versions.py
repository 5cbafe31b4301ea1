"""The versions that the suite runs with beside the usual ones: lower bounds as constraints for pip, and which Python.

python -m tests.system.versions constraints       # name==bound of every dependency, the optional ones too
python -m tests.system.versions python lowest     # path of Python 3.11, or nothing and the reason
python -m tests.system.versions python newest     # path of the newest Python of this machine
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from tests import ROOT

PROJECT = ROOT / "pyproject.toml"
FOR_DEVELOPERS = ("dev", "docs", "test")  # extras that no user installs
OLDEST = 11  # of Python 3, as `requires-python` says
LATEST = 30  # no Python 3 is looked for beyond this
USABLE = "import sys, venv, ensurepip; sys.exit(sys.version_info.releaselevel != 'final')"


def lower_bounds() -> dict[str, str]:
    """Name of every direct dependency, optional ones too, and its lower bound."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    optional = {name: items for name, items in project["optional-dependencies"].items() if name not in FOR_DEVELOPERS}
    words = [*project["dependencies"], *(word for items in optional.values() for word in items)]
    found = [re.fullmatch(r"([\w.-]+)>=([\w.]+)", word) for word in words]
    assert all(found), f"expected NAME>=VERSION, got {words}"
    return {match[1]: match[2] for match in found if match}


def pythons() -> dict[int, str]:
    """Minor version of every Python 3 of this machine that can make environments, and its path; pyenv's too."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found: dict[int, str] = {}
    for minor in range(OLDEST, LATEST):
        paths = [shutil.which(f"python3.{minor}"), *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/python")))]
        usable = [path for path in paths if path and _works(path)]
        if usable:
            found[minor] = usable[0]
    return found


def _works(path: str) -> bool:
    """pyenv has a shim for each of its versions, and most of them only say that another one is chosen."""
    return subprocess.run([path, "-c", USABLE], capture_output=True, check=False).returncode == 0


def main(words: list[str]) -> None:
    """Prints what the Makefile asks for; reasons go to stderr."""
    if words == ["constraints"]:
        print("\n".join(f"{name}=={version}" for name, version in sorted(lower_bounds().items())))
        return
    known = pythons()
    if words == ["python", "lowest"]:
        if OLDEST in known:
            print(known[OLDEST])
        else:
            print(f"no Python 3.{OLDEST} here, and the oldest versions have no wheels for a newer one", file=sys.stderr)
        return
    assert words == ["python", "newest"], words
    newest = max(known, default=sys.version_info.minor)
    print(f"newest Python of this machine: 3.{newest}", file=sys.stderr)
    print(known.get(newest, sys.executable))


if __name__ == "__main__":
    main(sys.argv[1:])
