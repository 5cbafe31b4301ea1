"""The Spectrum-X profile of a site: its classes against those of the leaves.

Its form: Mellanox/nic-configuration-operator@8bfbeb34 README.md, and bindata/spectrum-x/RA2.2.yaml of its history (968bb3c^),
`runtimeConfig.roce[]` with `dmsPath` and `value`, PFC as eight digits from priority 0 on, trust `dscp`; `mlxConfig.MODE.NIC`
with `postBreakout`, there the DSCP of responses to round-trip probes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from fabric.base.formats.yaml import LOADER
from fabric.base.text import listed
from fabric.model.plan import Qos

PFC, TRUST = "/qos/config/pfc", "/qos/config/trust-mode"
RESPONSES = "ROCE_RTT_RESP_DSCP_P"  # and the number of the port
PRIORITIES = 8


def faults(thing: Mapping[str, Any], qos: Qos | None) -> Iterator[str]:
    """Everything of a ConfigMap with a profile; what it does not say is the firmware's default and not compared."""
    data = thing.get("data")
    text = data.get("profile") if isinstance(data, Mapping) else None
    if not isinstance(text, str):
        yield "expected the profile under data.profile, got none"
        return
    try:
        profile = yaml.load(text, LOADER)
    except yaml.YAMLError:
        yield "profile: expected YAML"
        return
    profile = profile if isinstance(profile, Mapping) else {}
    for path, value in _values(profile):
        if path.endswith(PFC):
            yield from _pfc(str(value), qos)
        elif path.endswith(TRUST) and str(value).lower() != "dscp":
            yield f"trust: expected dscp as on the leaves, got {value}"
    for name, value in _firmware(profile):
        if name.startswith(RESPONSES) and qos is not None and str(value) != str(qos.cnp_dscp):
            yield f"{name}: expected DSCP {qos.cnp_dscp}, the class of congestion notifications on the leaves, got {value}"


def _pfc(value: str, qos: Qos | None) -> Iterator[str]:
    digits = value.replace(",", "")
    expected = [qos.priority] if qos is not None else []
    if len(digits) != PRIORITIES or set(digits) - {"0", "1"}:
        yield f"PFC: expected eight digits of 0 and 1, got {value}"
        return
    got = [priority for priority, digit in enumerate(digits) if digit == "1"]
    if got != expected:
        shown = [listed([str(number) for number in numbers]) or "none" for numbers in (expected, got)]
        yield f"PFC: expected priority {shown[0]} as on the leaves, got {shown[1]}"


def _values(profile: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    sections = profile.get("runtimeConfig")
    for rows in sections.values() if isinstance(sections, Mapping) else ():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, Mapping):
                yield str(row.get("dmsPath", "")), row.get("value")


def _firmware(profile: Any) -> Iterator[tuple[str, Any]]:
    """Every parameter of the firmware, however deep it stands."""
    modes = profile.get("mlxConfig")
    queue: list[Any] = [modes]
    while queue:
        part = queue.pop()
        for key, value in part.items() if isinstance(part, Mapping) else ():
            if isinstance(value, Mapping):
                queue.append(value)
            else:
                yield str(key), value
