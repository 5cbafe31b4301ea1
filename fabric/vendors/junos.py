"""Juniper Junos Evolved."""

from __future__ import annotations

from fabric.catalog.models import SwitchModel
from fabric.plan.ports import PortRef
from fabric.plan.views import SwitchView
from fabric.vendors.base import File, Target


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    raise ValueError("not written yet")


def files(view: SwitchView) -> list[File]:
    raise ValueError("not written yet")


TARGET = Target(name="junos", title="Juniper Junos Evolved", port_name=port_name, files=files, refuses=lambda model, name: "not written yet")
