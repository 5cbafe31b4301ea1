"""Values that a key takes or refuses by what they are: addresses of groups and of none, and reserved numbers."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from fabric.base import source
from fabric.base.diagnostics import InputError
from fabric.design.intent.load import validate

MAC, ASN, RT = "overlay.anycast_mac", "topology.attachments.0.external.asn", "overlay.rt_asn"
PIN, VLAN, VNI = "pins.backend-leaf001.asn", "tenants.0.networks.0.vlan", "tenants.0.vni"
DATA, CNP = "qos.lossless_dscp", "qos.cnp_dscp"
RESERVED_ASNS = (0, 23_456, 65_535, 4_294_967_295)
TAKEN: dict[str, tuple[object, ...]] = {
    MAC: ("00:00:5e:00:01:01", "00:00:5E:00:01:FF", "00:00:5e:00:02:01", "02:00:00:00:00:01", "00:1c:73:00:00:99"),
    ASN: (1, 23_455, 23_457, 64_512, 65_534, 65_536, 4_294_967_294),
    PIN: (1, 65_534, 4_200_000_000),
    RT: (1, 23_455, 64_512, 65_534),
    VLAN: (2, 1002, 4094),
    VNI: (1, 16_777_215),
    DATA: (1, 63),
    CNP: (1, 63),
}
REFUSED: dict[str, tuple[object, ...]] = {
    MAC: (
        *("00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "33:33:00:00:00:01", "01:80:c2:00:00:0e"),
        *("03:00:00:00:00:01", "00:00:5e:00:01:00", "00:00:5e:00:02:00", "00:00:5e:00:00:01", "00:00:5e:00:52:01"),
        *("00:00:5e:00:53:01", "00:00:5e:90:01:00", "00:00:5e:00:01", "0000.5e00.0101", "00-00-5e-00-01-01", 5),
    ),
    ASN: (*RESERVED_ASNS, -1, 4_294_967_296),
    PIN: (0, 4_294_967_295),  # the planner refuses the two in the middle: FAB139
    RT: (*RESERVED_ASNS, 65_536, 4_200_000_000),
    VLAN: (0, 1, 4095, 4096),
    VNI: (0, 16_777_216),
    DATA: (0, 64),  # 0 has every packet without a mark
    CNP: (0, 64),
}


def load(key: str, value: object) -> None:
    """Loads a site with one value."""
    fabric: dict[str, Any] = {"servers": {"model": "dgx-h100", "count": 4}, "topology": {"switch": "sn5600"}}
    part: Any = value
    for step in reversed(key.split(".")):
        named = {"name": "one", "links": 1} if key == ASN and step == "0" else {"name": "one"}
        part = [named | part] if step == "0" else {step: part}
    fabric["topology"] |= part.pop("topology", {})
    whole = {"version": 1, "site": "dc1", "fabrics": {"backend": fabric | part}}
    validate(source.parse(yaml.safe_dump(whole), "intent.yaml"))


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in TAKEN.items() for value in values])
def test_a_value_that_is_taken(key: str, value: object) -> None:
    load(key, value)


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in REFUSED.items() for value in values])
def test_a_value_that_is_refused_at_its_place(key: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        load(key, value)
    (found,) = caught.value.diagnostics
    assert found.message.startswith(f"fabrics.backend.{key.replace('.0', '[0]')}: expected")
    assert f"got {value if isinstance(value, int) else repr(value)}" in found.message
