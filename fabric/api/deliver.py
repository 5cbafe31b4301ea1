"""What leaves the tool: pages, other formats, cables, parts, inventory systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from fabric.api.solve import estimate

if TYPE_CHECKING:
    from fabric.audit.cabling.finding import CablingState
    from fabric.base.diagnostics import Warnings
    from fabric.base.processes import Progress
    from fabric.deliver.bom.bill import Bandwidth, Bill
    from fabric.deliver.bom.gather import BomRequest
    from fabric.deliver.cabling.labels import Sheet
    from fabric.deliver.cabling.tables import RunList
    from fabric.deliver.export.formats import Exported
    from fabric.deliver.inventory.engine import Pushed
    from fabric.deliver.inventory.push import PushRequest
    from fabric.deliver.report.comparison import GivenDesign
    from fabric.deliver.report.study import ReportRequest
    from fabric.model.plan import Plan


def report(site_plan: Plan, request: ReportRequest) -> str:
    """Return the plan as one HTML page that works offline.

    Raises:
        InputError: a failure of the request partitions a fabric.
    """
    from fabric.deliver.report.page import page

    return page(site_plan, request)


def report_designs(designs: Sequence[GivenDesign], request: ReportRequest) -> str:
    """Return several designs side by side as one HTML page that works offline.

    Args:
        designs: plan and keys of each design (`fabric.deliver.report.comparison.Side`).
        request: options of the report.

    Raises:
        InputError: a failure of the request partitions a fabric.
    """
    from fabric.deliver.report.comparison_page import page

    return page(designs, request)


def export(site_plan: Plan, form: str, **request: int | Path) -> Exported:
    """Return the plan in another format.

    Args:
        site_plan: the plan.
        form: a key of `fabric.deliver.export.formats.FORMATS`.
        request: options of the format.

    Raises:
        InputError: the format cannot hold the plan.
        KeyError: unknown format.
    """
    from fabric.deliver.export.formats import FORMATS

    return FORMATS[form](site_plan, **request)


def cables(site_plan: Plan, fabric: str = "", limit: str = "") -> RunList:
    """Return the run list: every cable with its part, its length in m and its order of laying.

    Args:
        site_plan: the plan.
        fabric: only this fabric.
        limit: glob of devices or racks.

    Raises:
        InputError: a link for which the catalog has no cable or optic, or an unknown name.
    """
    from fabric.deliver.cabling.tables import run_list

    return run_list(site_plan, fabric, limit)


def labels(cables: RunList, sheet: Sheet, skip: int = 0) -> bytes:
    """Return labels for both ends of cables as a PDF, in the order of laying.

    Args:
        cables: the run list.
        sheet: measures of the label sheet.
        skip: labels of the first sheet that are already used.
    """
    from fabric.deliver.cabling.labels import pdf

    return pdf(cables.runs, cables.walk, sheet, skip)


def verify(
    site_plan: Plan, files: Sequence[Path], stated: Mapping[Path, str], source: str = ""
) -> tuple[CablingState, Warnings]:
    """Compare LLDP neighbors with the cables of the plan.

    Args:
        site_plan: the plan.
        files: files and folders of LLDP output.
        stated: device by file, where the content does not name it.
        source: name of the only format to read; "" for all.

    Returns:
        Findings with the re-cabling moves, warnings about ignored files, and errors about files that cannot be read or
        assigned to a device: the others are compared.

    Raises:
        InputError: no file can be read, or `stated` names no device of the plan.
    """
    from fabric.audit.cabling.compare import verify as compare

    return compare(site_plan, files, stated, source)


def bill(site_plan: Plan, request: BomRequest) -> tuple[Bill, Warnings]:
    """Return the bill of materials: parts, power in W, and cost if the request has prices.

    Raises:
        InputError: the floor plan has no place for every device.
    """
    from fabric.deliver.bom.gather import gather

    return gather(site_plan, request, {} if request.prices is None else dict(_bandwidths(site_plan)))


def _bandwidths(site_plan: Plan) -> Iterator[tuple[str, Bandwidth]]:
    """Yield the all-reduce over every GPU of each compute fabric; skip fabrics that cannot run it."""
    from fabric.base.diagnostics import InputError
    from fabric.deliver.bom.bill import Bandwidth
    from fabric.deliver.bom.gather import ALL_REDUCE_BYTES
    from fabric.solver.estimate.request import EstimateRequest

    for name, fabric in site_plan.fabrics.items():
        if fabric.spec.purpose != "compute" or not fabric.sizing.gpus:
            continue
        request = EstimateRequest(sizes=(ALL_REDUCE_BYTES,), routing="", queue_pairs=0)
        with suppress(InputError):
            busbw = estimate(fabric, request)[0].rows[0].busbw_GBps
            yield name, Bandwidth(fabric.sizing.gpus, ALL_REDUCE_BYTES, busbw)


def push(site_plan: Plan, system: str, url: str, token: str, request: PushRequest, progress: Progress) -> Pushed:
    """Write the plan to NetBox or Nautobot, or list what would change.

    Args:
        site_plan: the plan.
        system: `netbox` or `nautobot`.
        url: base URL of the server.
        token: API token with write permission.
        request: prune, dry run, batch size.
        progress: progress bar.

    Raises:
        InputError: the server refuses an object.
        MissingError: no server at the URL, or its client is not installed.
    """
    from fabric.deliver.inventory.push import SYSTEMS, Push

    work = Push(site_plan, SYSTEMS[system])
    with progress(f"push to {work.system.title}", work.size) as advance:
        return work.run(url, token, request, lambda table, count: advance(count))
