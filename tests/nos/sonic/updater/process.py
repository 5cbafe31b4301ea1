"""SONiC's own updater beside the tests, where it is installed.

`generic_config_updater` and `sonic_yang_mgmt` are in the environment `venv` of its folder, the models in `models`.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.audit.diff.apply import patched
from tests.nos.sonic.updater.switch import Refused, Switch

HOME = Path(os.environ.get("SONIC_UPDATER", "/var/cache/fabricwright/sonic-updater"))
PYTHON = HOME / "venv" / "bin" / "python"
WHY_NOT = f"SONiC's updater is not in {HOME} (SONIC_UPDATER)"
NVIDIA = ("ACS-", "Mellanox-")
SECONDS = 120  # of CPU, for one patch


def is_there() -> bool:
    """Whether it was built on this machine."""
    return PYTHON.exists()


class RealUpdater:
    """The updater as a process, with the models of its folder or of another release."""

    def __init__(self, models: str = "") -> None:
        assert is_there(), WHY_NOT
        environment = {**os.environ, "SONIC_UPDATER": str(HOME), "LD_LIBRARY_PATH": str(HOME / "prefix" / "lib")}
        environment["SONIC_MODELS"] = models or str(HOME / "models")
        script = Path(__file__).with_name("real.py")
        self.process = subprocess.Popen(
            [PYTHON, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def __enter__(self) -> RealUpdater:
        return self

    def __exit__(self, *exception: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def ask(self, config: Mapping[str, Any], **request: Any) -> dict[str, Any]:
        """The answer to one patch, or with `validate` to a whole database."""
        hwsku = config.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", "")
        asic = "mellanox" if hwsku.startswith(NVIDIA) else "barefoot" if hwsku == "newport" else "broadcom"
        line = json.dumps({"config": config, "asic_type": asic, "seconds": SECONDS, **request})
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found

    def run(self, switch: Switch, steps: Sequence[Mapping[str, Any]], counts: Counter[str]) -> None:
        """All steps: the updater sorts each patch, the daemons get its changes in that order. Raises Refused."""
        for step in steps:
            if step["kind"] == "patch":
                answer = self.ask(switch.config, patch=step["json_patch"])
                counts["patches of the real updater"] += 1
                counts["changes of the real updater"] += len(answer["changes"])
                if answer["error"]:
                    raise Refused(f"the real updater: {answer['error'][:400]}")
                for change in answer["changes"]:
                    target = patched(switch.config, change)
                    switch.become({table: rows for table, rows in target.items() if rows})
            elif step["kind"] == "reload":
                switch.run([step])
                if error := self.ask(switch.config, validate=True)["error"]:
                    raise Refused(f"the models: {error[:400]}")
            else:
                for line in step["commands"]:
                    switch.typed(shlex.split(line))
        if switch.pending:
            raise Refused(f"a daemon waits for ever: {switch.pending[0]}")
