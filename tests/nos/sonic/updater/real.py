"""SONiC's own updater as a process: it takes patches on stdin, one JSON document a line, and answers on stdout.

It runs in the environment that `process.py` names and imports nothing of this project. What a switch has and this machine
lacks is stood in for: the database is a dictionary, the facts of the image come with the request. The patch, its sorter,
its models and its validators are SONiC's.
"""

from __future__ import annotations

import copy
import io
import json
import os
import signal
import sys
import time
import types
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

HOME = Path(os.environ["SONIC_UPDATER"])
SOURCES = HOME / "src"
for folder in ("utilities", "buildimage/src/sonic-yang-mgmt", "buildimage/src/sonic-py-common"):
    sys.path.insert(0, str(SOURCES / folder))

SWITCH: dict[str, Any] = {"config": {}, "asic_type": "vs", "build_version": "master.0"}


class _Nothing:
    """A database that answers nothing, as STATE_DB does for a port that reports no speeds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: None

    def hget(self, *args: Any) -> tuple[bool, str]:
        return False, ""


def _stand_ins() -> None:
    inner = types.ModuleType("swsscommon.swsscommon")
    for name in ("ConfigDBConnector", "DBConnector", "Table", "SonicV2Connector", "SonicDBConfig"):
        setattr(inner, name, _Nothing)
    outer = types.ModuleType("swsscommon")
    outer.swsscommon = inner  # type: ignore[attr-defined]
    sys.modules |= {"swsscommon": outer, "swsscommon.swsscommon": inner}


_stand_ins()
from sonic_py_common import device_info, multi_asic  # type: ignore[import-not-found]  # noqa: E402

multi_asic.is_multi_asic = lambda *args: False
device_info.is_chassis = lambda: False
device_info.get_sonic_version_info = lambda: {key: SWITCH[key] for key in ("asic_type", "build_version")}

import jsonpatch  # type: ignore[import-not-found]  # noqa: E402
from generic_config_updater import (  # type: ignore[import-not-found]  # noqa: E402
    field_operation_validators,
    generic_updater,
    gu_common,
)


class _Hwsku:
    """`sonic-cfggen -d -v DEVICE_METADATA.localhost.hwsku`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def communicate(self) -> tuple[str, str]:
        return SWITCH["config"]["DEVICE_METADATA"]["localhost"].get("hwsku", "") + "\n", ""


field_operation_validators.subprocess = types.SimpleNamespace(Popen=_Hwsku, PIPE=-1)
gu_common.YANG_DIR = os.environ.get("SONIC_MODELS", str(HOME / "models"))
gu_common.get_config_db_as_text = lambda scope=None: json.dumps(SWITCH["config"])


class _Applier:
    """Writes into the dictionary and keeps the changes in the order of the sorter."""

    def __init__(self) -> None:
        self.changes: list[list[dict[str, Any]]] = []

    def apply(self, current: dict[str, Any], change: Any) -> dict[str, Any]:
        new = {table: rows for table, rows in change.apply(current).items() if rows}
        SWITCH["config"] = copy.deepcopy(new)
        self.changes.append(json.loads(str(change)))
        return new

    def remove_backend_tables_from_config(self, data: dict[str, Any]) -> None:
        for table in ("BUFFER_PG", "BUFFER_PROFILE", "FLEX_COUNTER_TABLE"):
            data.pop(table, None)


WRAPPER = gu_common.ConfigWrapper()


def _late(*args: Any) -> None:
    raise TimeoutError("no answer in time")


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The config after one patch, or why it is refused."""
    SWITCH.update(config=request["config"], asic_type=request["asic_type"])
    if request.get("validate"):
        valid, why = WRAPPER.validate_config_db_config(request["config"])
        return {"error": "" if valid else str(why)}
    applier, started = _Applier(), time.monotonic()
    patches = gu_common.PatchWrapper(WRAPPER)
    WRAPPER._validate_config_cache.clear()
    signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, request["seconds"])
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            updater = generic_updater.PatchApplier(changeapplier=applier, config_wrapper=WRAPPER, patch_wrapper=patches)
            updater.apply(jsonpatch.JsonPatch(request["patch"]))
        error = ""
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {
        "error": error,
        "config": SWITCH["config"],
        "changes": applier.changes,
        "seconds": round(time.monotonic() - started, 2),
    }


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
