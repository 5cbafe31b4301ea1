"""Names of the ports of a split cage in every network OS: of the second cage, from the maker's data of the switch."""

from __future__ import annotations

import pytest

from fabric.hardware import catalog
from fabric.model.plan import PortRef
from fabric.nos.target import target

# SONiC: offsets of githedgehog/fabric@78827deb pkg/ctrl/switchprofile, breakout_modes of sonic-buildimage@086b03bd70f9:
# `4x25G(4)` has four of eight lanes; the Z9664F-ON has four lanes in a cage. NX-OS: Ethernet1/2/1 behind `interface breakout
# module 1 port 2 map 200g-2x` (interfaces configuration guide). Junos Evolved: et-0/0/1:0 (Apstra's device profile of the
# QFX5230-64CD). Cumulus Linux: swp2s0 (user guide, Switch Port Attributes). EOS: cage and first lane, Ethernet2/5.
NAMES = [
    ("sonic", "ds4000", 2, 200, ["Ethernet8", "Ethernet12"]),
    ("sonic", "ds4000", 8, 50, [f"Ethernet{8 + lane}" for lane in range(8)]),
    ("sonic", "ds4000", 4, 100, ["Ethernet8", "Ethernet10", "Ethernet12", "Ethernet14"]),
    ("sonic", "ds4000", 4, 25, ["Ethernet8", "Ethernet9", "Ethernet10", "Ethernet11"]),
    ("sonic", "z9332f-on", 4, 25, ["Ethernet8", "Ethernet9", "Ethernet10", "Ethernet11"]),
    ("sonic", "z9664f-on", 2, 200, ["Ethernet4", "Ethernet6"]),
    ("sonic", "ds3000", 2, 50, ["Ethernet4", "Ethernet6"]),
    ("sonic", "ds3000", 4, 25, ["Ethernet4", "Ethernet5", "Ethernet6", "Ethernet7"]),
    ("sonic", "sn4700", 4, 25, ["Ethernet8", "Ethernet9", "Ethernet10", "Ethernet11"]),
    ("sonic", "sn4700", 4, 50, ["Ethernet8", "Ethernet10", "Ethernet12", "Ethernet14"]),
    ("sonic", "sn5600", 4, 25, ["Ethernet8", "Ethernet10", "Ethernet12", "Ethernet14"]),
    ("nxos", "n9364d-gx2a", 2, 200, ["Ethernet1/2/1", "Ethernet1/2/2"]),
    ("nxos", "n9332d-gx2b", 4, 100, [f"Ethernet1/2/{part}" for part in (1, 2, 3, 4)]),
    ("junos", "qfx5230-64cd", 2, 200, ["et-0/0/1:0", "et-0/0/1:1"]),
    ("junos", "qfx5220-32cd", 4, 100, [f"et-0/0/1:{part}" for part in range(4)]),
    ("cumulus", "sn4700", 4, 25, [f"swp2s{part}" for part in range(4)]),
    ("eos", "7060dx4-32", 2, 200, ["Ethernet2/1", "Ethernet2/5"]),
    ("eos", "7060dx4-32", 4, 100, ["Ethernet2/1", "Ethernet2/3", "Ethernet2/5", "Ethernet2/7"]),
    ("eos", "7060dx4-32", 4, 25, ["Ethernet2/1", "Ethernet2/2", "Ethernet2/3", "Ethernet2/4"]),
    ("eos", "7060dx5-64s", 8, 50, [f"Ethernet2/{lane}" for lane in range(1, 9)]),
    ("eos", "7050cx3-32s", 4, 10, [f"Ethernet2/{lane}" for lane in range(1, 5)]),
]


@pytest.mark.parametrize(("nos", "name", "split", "speed", "expected"), NAMES, ids=lambda value: str(value)[:12])
def test_names_of_a_split_cage(nos: str, name: str, split: int, speed: int, expected: list[str]) -> None:
    model = catalog.switch(name)
    assert model is not None
    assert model.ports[0].splits[speed] == split
    refs = [PortRef(2, sub, split, speed) for sub in range(split)]
    assert [target(nos).port_name(model, ref, name) for ref in refs] == expected


@pytest.mark.parametrize("name", [name for name in catalog.switch_names() if catalog.switch(name).nos])  # type: ignore[union-attr]
def test_every_port_of_a_switch_has_a_name_of_its_own(name: str) -> None:
    """Whatever its cages are split into, on every network OS of the model."""
    model = catalog.switch(name)
    assert model is not None
    for nos in model.nos:
        if nos == "junos" and target(nos).refuses(model, name):
            continue
        for group in model.ports:
            for speed, split in group.splits.items():
                names = {
                    target(nos).port_name(model, PortRef(cage, sub, split, speed), name)
                    for cage in range(1, model.cages + 1)
                    for sub in range(split)
                    if model.group_of(cage) is group
                }
                assert len(names) == group.count * split, f"{nos}: {split}x{speed}"
