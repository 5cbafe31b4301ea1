"""Options that several commands share: sizes of a collective, platform, placement, and the fabric that they apply to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fabric import pipeline
from fabric.base.diagnostics import Diagnostic, InputError, Report, nearest
from fabric.base.text import either
from fabric.cli.common import check_fabric, check_range, mistake, option, progress, say
from fabric.solver.routing import MODES

if TYPE_CHECKING:
    from fabric.model.plan import FabricPlan, Plan
    from fabric.solver.estimate.placement import ServerPart
    from fabric.solver.estimate.request import EstimateRequest
    from fabric.solver.reach import Goal, Measure


SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*(?:[kmgtKMGT][iI]?)?B?")
BITS = re.compile(r"([0-9.]+)\s*([kmgt]?)i?b(?:it)?s?", re.IGNORECASE)
MIN_BYTES, MAX_BYTES = 8, 1 << 42
SWEEP = (8, 8 << 30)


def size_bytes(option: str, text: str, report: Report) -> int | None:
    """The bytes that an option asks for; None when it asks for no size, which is reported."""
    match = SIZE.fullmatch(text.strip())
    value = round(float(match[1]) * _unit(text.strip().lower().lstrip("0123456789. "))) if match else 0
    if not MIN_BYTES <= value <= MAX_BYTES:
        hint = "K, M, G and T are powers of 1024, as in nccl-tests; KB, MB, GB and TB of 1000"
        if not match and (bits := BITS.fullmatch(text.strip())):
            number, unit = bits[1], bits[2].upper()
            hint = f"b is bits, B is bytes: write {number}{unit}B" + (f" or {number}{unit}; {hint}" if unit else "")
        mistake(report, option, f"expected a size of 8 bytes to 4 TiB, got {text!r}", hint)
        return None
    return value


def _unit(suffix: str) -> int:
    """Bytes of `g`, `gib`, `gb`; the suffix has been checked."""
    power = " kmgt".index(suffix[0]) if suffix[:1] in tuple("kmgt") else 0
    base = 1000 if suffix.endswith("b") and "i" not in suffix else 1024
    return int(base**power)


def sizes_bytes(sizes: list[str], sweep: str, report: Report) -> list[int]:
    """The bytes that --size or --sweep ask for, ascending; mistakes go to the report."""
    if sizes and sweep:
        mistake(report, "--sweep", "expected one of --size and --sweep, got both", "repeat --size for several sizes")
    if sizes:
        return sorted({value for text in sizes if (value := size_bytes("--size", text, report)) is not None})
    parts = sweep.split(":") if sweep else []
    if sweep and len(parts) not in (2, 3):
        hint = "`--sweep 1M:1G:4` is 1, 4, 16 MiB, …"
        mistake(report, "--sweep", f"expected MIN:MAX or MIN:MAX:FACTOR, got {sweep!r}", hint)
        return []
    ends = [size_bytes("--sweep", text, report) for text in parts[:2]] or list(SWEEP)
    factor = 2
    if len(parts) == 3:
        factor = int(parts[2]) if re.fullmatch("[0-9]{1,4}", parts[2]) else 0
        if factor < 2:
            mistake(report, "--sweep", f"expected a whole factor of 2 or more, got {parts[2]!r}", "`1M:1G:4` multiplies by 4")
    if None in ends or factor < 2:
        return []
    low, high = (int(value or 0) for value in ends)
    if low > high:
        mistake(report, "--sweep", f"expected MIN up to MAX, got {sweep!r}", "put the smaller size first")
    bytes_list = []
    while low <= high:
        bytes_list.append(low)
        low *= factor
    return bytes_list


# --- job ------------------------------------------------------------------------------------------------------
# Options that `estimate`, `capacity` and `step` share, and the fabric that they apply to.

JOB, NETWORK, PARAMETERS, OUTPUT = "Job", "Network", "Model parameters", "Output"  # groups of options

FABRIC = option("", "--fabric", "NAME", "fabric of the site", shown="compute fabric with the most GPUs", panel=NETWORK)
GPUS = option(None, "--gpus", "N", "GPUs of the job", shown="all", panel=JOB)
GPUS_PER_DOMAIN = option(
    None, "--gpus-per-domain", "N", "GPUs used per NVLink domain, such as 64 of 72", shown="all", panel=JOB
)
GPUS_PER_SERVER = option(None, "--gpus-per-server", "N", "GPUs used per server, the first ones", shown="all", panel=JOB)
GPU_IDS = option("", "--gpu-ids", "I,J", "GPUs used per server by number from 0, as CUDA_VISIBLE_DEVICES: 0,4", panel=JOB)
COMMUNICATORS = option(
    "",
    "--communicators",
    "N",
    "communicators of --gpus GPUs each at once on other GPUs of the same servers: a number, or per-rail",
    shown="1",
    panel=JOB,
)
PLACEMENTS = "packed, spread, random:SEED, or server names separated by commas"
PLACEMENT = option("packed", "--placement", "P", PLACEMENTS)
ROUTING = option("", "--routing", "MODE", f"load balancing: {either(tuple(MODES))}", shown="as in the plan", panel=NETWORK)
QUEUE_PAIRS = option(0, "--qps", "N", "queue pairs per connection", shown="as in the plan", panel=NETWORK)
FAIL = option([], "--fail", "NAME", "failed device or link: SWITCH, A:B, SWITCH:PORT or plane:N; repeatable", panel=NETWORK)
PLATFORM = option(
    None, "--platform", "FILE", "platform file of `fabric model calibrate`", shown="shipped parameters", panel=PARAMETERS
)
PRICES = option(None, "--prices", "PRICES", "price file (keys: docs/bom.md)", panel=PARAMETERS)
SEED = option(0, "--seed", "N", "seed of queue pair numbers and samples", panel=PARAMETERS)
JSON = typer.Option(False, "--json", help="print one JSON document", rich_help_panel=OUTPUT)


def reach_option(example: str) -> Any:
    """`--reach`, with a goal that the command knows."""
    return option(
        "", "--reach", "GOAL", f"with one --vary: the least value that reaches a goal, such as {example}", panel=JOB
    )


def goal_of(text: str, measures: Mapping[str, Measure], varied: Mapping[str, Any]) -> Goal | None:
    """The goal of `--reach`, if there is one, beside exactly one varied key. Raises InputError."""
    from fabric.solver.reach import OPTION, goal_of as read  # heavy: not for help

    if not text:
        return None
    goal = read(text, measures)
    if len(varied) != 1:
        hint = "such as `--vary checkpoint.write_GBps=10..400`"
        raise InputError([Diagnostic("FAB102", OPTION, f"expected one --vary beside it, got {len(varied)}", hint)])
    return goal


def platform_beside(file: Path) -> Path:
    """The platform file of an intent: dc1.platform.yaml for dc1.yaml."""
    return file.parent / f"{file.stem}.platform.yaml"  # of "." too, which has no name


def platform_of(file: Path, stated: Path | None) -> Path | None:
    """The platform file that is stated, else the one beside the intent, None for neither; the latter is reported."""
    beside = platform_beside(file)
    if stated is not None or not beside.is_file():
        return stated
    say(f"parameters of {beside}")
    return beside


def chosen(file: Path, name: str) -> FabricPlan:
    """The named fabric of an intent, else its compute fabric with the most GPUs. Raises InputError."""
    with progress("plan"):
        made = pipeline.plan(pipeline.load(file))
    check_fabric(made, name)
    return largest(made, name)


def largest(made: Plan, name: str) -> FabricPlan:
    """The named fabric of a plan, else its compute fabric with the most GPUs."""
    if name:
        return made.fabrics[name]
    return max(made.fabrics.values(), key=lambda item: (item.spec.purpose == "compute", item.sizing.gpus))


def request_of(
    file: Path, platform: Path | None, routing: str, queue_pairs: int, fail: list[str], seed: int = 0, **more: Any
) -> EstimateRequest:
    """What the options of a job and its network ask for. Raises InputError for wrong ones; `more`: further fields."""
    from fabric.solver.estimate.request import EstimateRequest  # heavy: not for help and mistakes

    report = Report()
    check_spread(report, routing, queue_pairs)
    check_seed(report, seed)
    report.raise_errors()
    return EstimateRequest(
        routing=routing,
        queue_pairs=queue_pairs,
        fail=tuple(fail),
        seed=seed,
        platform=platform_of(file, platform),
        **more,
    )


def server_part(report: Report, gpus_per_server: int | None, gpu_ids: str, communicators: str) -> ServerPart:
    """What --gpus-per-server, --gpu-ids and --communicators say; mistakes go to the report."""
    from fabric.solver.estimate.placement import PER_RAIL, ServerPart  # heavy: not for help and mistakes

    count = 1 if gpus_per_server is None else gpus_per_server
    check_range(report, "--gpus-per-server", count, 1, 1024, "1 to 1024 GPUs", hint="remove it for all GPUs of a server")
    if gpu_ids and not re.fullmatch(r"[0-9]{1,4}(?:,[0-9]{1,4}){0,1023}", gpu_ids):
        hint = "as CUDA_VISIBLE_DEVICES has them, such as 0,4"
        mistake(report, "--gpu-ids", f"expected numbers of GPUs, a comma between, got {gpu_ids!r}", hint)
        gpu_ids = ""
    known = communicators in ("", "per-rail") or re.fullmatch(r"[1-9][0-9]{0,3}", communicators)
    if not known:
        hint = "per-rail is one for each NIC of a server, with the GPUs beside it"
        mistake(report, "--communicators", f"expected a number or per-rail, got {communicators!r}", hint)
    number = PER_RAIL if communicators == "per-rail" else int(communicators or 1) if known else 1
    return ServerPart(gpus_per_server, tuple(map(int, gpu_ids.split(","))) if gpu_ids else (), number)


def check_spread(report: Report, routing: str, queue_pairs: int) -> None:
    """Validates --routing and --qps."""
    if routing and routing not in MODES:
        mistake(report, "--routing", f"expected a routing mode, got {routing!r}", nearest(routing, MODES))
    check_range(
        report, "--qps", queue_pairs, 0, 128, "1 to 128 queue pairs", hint="NCCL_IB_QPS_PER_CONNECTION has the same range"
    )


def check_seed(report: Report, seed: int) -> None:
    check_range(report, "--seed", seed, 0, (1 << 31) - 1, "a seed from 0 to 2147483647", hint="`--seed 0` is the default")
