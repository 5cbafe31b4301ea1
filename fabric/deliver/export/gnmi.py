"""Subscriptions of every switch, as a configuration of gnmic: counters, PFC, ECN, buffers, FEC, optics, BGP.

Paths are data, `telemetry.yaml` in the package of each network OS, with their sources; missing paths
are stated there and in a comment of the output.
Source: https://gnmic.openconfig.net (targets, subscriptions, Prometheus output).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import ip_address
from typing import Annotated, Literal

from pydantic import Field

from fabric.base.formats import json_line, model_of, yaml
from fabric.hardware.catalog.models import Record
from fabric.model.plan import FabricPlan, Plan
from fabric.nos.target import installed

Topic = Literal["interfaces", "pfc", "queues", "ecn", "buffers", "fec", "optics", "bgp"]
LOSSLESS: tuple[Topic, ...] = ("pfc", "ecn", "buffers")  # asked of fabrics that carry RoCE


class Paths(Record):
    """One topic of a network OS: paths, or the topic whose paths bring it, or why there are none."""

    paths: tuple[str, ...] = ()
    target: str = Field("", description="prefix target of the request; SONiC: the database")
    interval_s: Annotated[int, Field(ge=1)] = 10
    within: Topic | None = None
    missing: str = ""
    source: str = ""


class Telemetry(Record):
    """What a network OS streams."""

    port: int = Field(ge=1, le=65535, description="that the generated configuration listens on")
    topics: dict[Topic, Paths]


def gnmi(plan: Plan) -> str:
    """One file for all switches that have gNMI; user, password and certificates come from the environment."""
    systems = {device.nos for fabric in plan.fabrics.values() for device in fabric.switches}
    streams = {nos: telemetry_ for nos in sorted(systems) if (telemetry_ := telemetry(nos)) is not None}
    lines = [f"# Site {plan.site}: gnmic --config FILE subscribe", *_silent(streams, systems)]
    lines.extend(f"{key}: ${{GNMI_{key.upper()}}}" for key in ("username", "password"))
    lines += [f"tls-{part}: ${{GNMI_TLS_{part.upper()}}}" for part in ("ca", "cert", "key")]
    lines += ["encoding: json_ietf", "targets:"]
    targets = [line for fabric in plan.fabrics.values() for line in _targets(fabric, streams)]
    lines[-1] += "" if targets else " {}"
    subscriptions = [
        line for nos, stream in streams.items() for line in _subscriptions(nos, stream, _asked(plan, nos, stream))
    ]
    lines += [*targets, "subscriptions:" if subscriptions else "subscriptions: {}", *subscriptions]
    return "\n".join([*lines, *_PROMETHEUS]) + "\n"


# States of links and sessions are words, which Prometheus takes only as labels; metrics of the API server state whether a
# target answers. Both are off by default (gnmic.openconfig.net: prometheus output, API server).
_PROMETHEUS = (
    "outputs:",
    '  prometheus: {type: prometheus, listen: ":9804", strings-as-labels: true}',
    'api-server: {address: ":7890", enable-metrics: true}',
)


@cache
def telemetry(nos: str) -> Telemetry | None:
    """None for a network OS without gNMI or without a `telemetry.yaml`."""
    known = installed(nos)
    path = known.telemetry if known is not None else None
    if path is None:
        return None
    return model_of(Telemetry, yaml.read(path))


def topics(fabric: FabricPlan, stream: Telemetry) -> list[Topic]:
    """The subscriptions that a switch of a fabric has; without RoCE there is nothing lossless to watch."""
    here = [topic for topic, found in stream.topics.items() if found.paths]
    return [topic for topic in here if fabric.lossless is not None or topic not in LOSSLESS]


def _asked(plan: Plan, nos: str, stream: Telemetry) -> set[Topic]:
    """What at least one switch of a network OS is asked for."""
    fabrics = [fabric for fabric in plan.fabrics.values() if any(device.nos == nos for device in fabric.switches)]
    return {topic for fabric in fabrics for topic in topics(fabric, stream)}


def _silent(streams: Mapping[str, Telemetry], known: set[str]) -> Iterator[str]:
    """What this file does not ask for, and where it is had."""
    for nos, stream in streams.items():
        yield from (f"# {nos}: {topic}: {found.missing}" for topic, found in stream.topics.items() if found.missing)
    for nos in sorted(known - set(streams)):
        yield f"# {nos or 'switches without a network OS'}: no gNMI, left out"


def _targets(fabric: FabricPlan, streams: Mapping[str, Telemetry]) -> Iterator[str]:
    for device in fabric.switches:
        stream = streams.get(device.nos)
        if stream is None:
            continue
        address = ip_address(int(fabric.management[device.index]))
        host = f"[{address}]" if address.version == 6 else str(address)
        yield f"  {json_line(device.name)}:"
        yield f'    address: "{host}:{stream.port}"'
        yield f"    subscriptions: [{', '.join(f'{device.nos}-{topic}' for topic in topics(fabric, stream))}]"
        yield f"    event-tags: {{fabric: {json_line(fabric.name)}, tier: {device.role}}}"


def _subscriptions(nos: str, stream: Telemetry, asked: set[Topic]) -> Iterator[str]:
    for topic, found in stream.topics.items():
        if topic not in asked:
            continue
        yield f"  {nos}-{topic}:"
        if found.target:
            yield f"    target: {found.target}"
        yield "    paths:"
        yield from (f"      - {json_line(path)}" for path in found.paths)
        yield from ("    mode: stream", "    stream-mode: sample", f"    sample-interval: {found.interval_s}s")
