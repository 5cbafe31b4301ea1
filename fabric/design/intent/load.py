"""From a file to a Site: version first, then the models; every mistake with its place."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from fabric.base import source
from fabric.base.diagnostics import Report, show
from fabric.base.formats import json_text, model_of
from fabric.base.inputs import InputFile
from fabric.base.source import Source
from fabric.base.text import listed
from fabric.design.intent.site import VERSION, Fabric, Site
from fabric.hardware.catalog import models
from fabric.model.settings.services import DN_PATTERN
from fabric.model.settings.site import CIRCUIT_ID, FILE_NAME, HTTP, IMAGE_VERSION, SHA256

# --- The JSON Schema of the language, for editors -------------------------------------------------------------

TITLE = "fabricwright intent, version 1"


@cache
def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of an intent file, generated from the models."""
    whole = Site.model_json_schema(by_alias=True)
    # Short forms that the loader expands before validation.
    for model, key, short in (("Topology", "pods", {"const": "auto"}), ("Fabric", "nos", {"type": "string"})):
        field = whole["$defs"][model]["properties"][key]
        field["anyOf"] = [short, *field.pop("anyOf", [{"$ref": field.pop("$ref", "#/$defs/TierNos")}])]
    relay, servers = (
        whole["$defs"][name]["properties"][key] for name, key in (("Network", "dhcp_relay"), ("DhcpRelay", "servers"))
    )
    relay["anyOf"] = [{key: servers[key] for key in ("type", "items")}, *relay["anyOf"]]
    items = whole["$defs"]["Tenant"]["properties"]["imports"]["items"]
    whole["$defs"]["Tenant"]["properties"]["imports"]["items"] = {"anyOf": [{"type": "string"}, items]}
    hardware = {name for name, kind in vars(models).items() if isinstance(kind, type) and issubclass(kind, models.Record)}
    for name, definition in (("", whole["properties"]), *whole["$defs"].items()):
        if name not in hardware:  # records of the catalog are validated like its files
            _let_single_entries_stand_for_lists(definition)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole, "title": TITLE}


def text() -> str:
    """The schema as the file that is committed beside the examples."""
    return json_text(schema(), ensure_ascii=False, sort_keys=True) + "\n"


def _let_single_entries_stand_for_lists(node: Any) -> None:
    """The loader takes one entry for a list of one; the schema must not call that a mistake."""
    if isinstance(node, dict):
        for value in node.values():
            _let_single_entries_stand_for_lists(value)
        if node.get("type") == "array" and "items" in node and isinstance(node["items"], dict):
            array = {key: node.pop(key) for key in list(node) if key not in ("description", "default", "title")}
            if "minLength" in array:  # pydantic describes a converted list as text
                array["minItems"] = array.pop("minLength")
            node["anyOf"] = [array["items"], array]
    elif isinstance(node, list):
        for value in node:
            _let_single_entries_stand_for_lists(value)


# --- loading --------------------------------------------------------------------------------------------------


_CODES = {"unknown": "FAB101", "type": "FAB102", "missing": "FAB103", "range": "FAB104", "word": "FAB107", "rule": "FAB108"}
_FORMS = {
    "^[1-9][0-9]?x[1-9][0-9]*$": "a breakout such as 2x400",
    "^FAB[0-9]{3,4}$": "a code such as FAB182",
    "^[A-Za-z0-9_+/-]{1,40}$": "a time zone such as UTC or Europe/Berlin",
    DN_PATTERN: "a distinguished name without quotes and escapes, such as cn=switches,dc=example,dc=net",
    "^[A-Za-z_][A-Za-z0-9_]{0,62}$": "the name of a secret, such as ADMIN_PASSWORD_HASH",
    "^[0-9A-Za-z][0-9A-Za-z.()_-]{0,30}$": "a release such as 5.15",
    HTTP: "a URL without user, query and final slash, such as http://192.0.2.5:8080",
    FILE_NAME: "the name of a file without folders, such as sonic-broadcom.bin",
    IMAGE_VERSION: "a version without blanks, such as 4.32.1F",
    SHA256: "a SHA-256 checksum: 64 digits and letters from a to f",
    CIRCUIT_ID: "a circuit id such as {switch}:{port}",
}


class _IntentFile(InputFile[Site]):
    """The language of intents: a code for each kind of mistake, and its own words for some."""

    mapping, number_hint, range_hint = "a mapping of keys", "", ""
    schema = property(lambda self: schema())
    forms, codes, top, is_full = _FORMS, _CODES, "Fabric", False


_INTENT = _IntentFile(Site, "an intent", "", "")


def load(path: Path, shown: str | None = None) -> tuple[Site, Source]:
    """Reads an intent. `shown` is the file's name in messages.

    Raises:
        InputError: with every mistake of the file.
    """
    text = source.read(path, shown)
    return validate(text), text


def validate(text: Source) -> Site:
    """Holds the data of a source against the language."""
    report, data = Report(), text.data
    _check_version(text, data, report)
    try:
        return model_of(Site, data)
    except ValidationError as error:
        errors: list[Any] = _outdented(error.errors(include_url=False), text, report)
        _INTENT.translate(errors, text, report)
    report.raise_errors()
    raise AssertionError("a validation error without an error")


def _check_version(text: Source, data: dict[str, Any], report: Report) -> None:
    version = data.get("version", VERSION)
    if type(version) is int and version == VERSION:
        return
    hint = f"set `version: {VERSION}`; CHANGELOG.md lists the changes between versions"
    if type(version) is int and version > VERSION:
        hint = "the file needs a newer version of fabric: `pipx upgrade fabricwright`"
    report.fail("FAB105", text.place(("version",)), f"version: expected {VERSION}, got {show(version)}", hint)


def _outdented(errors: list[Any], text: Source, report: Report) -> list[Any]:
    """The errors without those of keys that stand beside their fabric in place of under it, which are one mistake."""
    fabrics = text.data.get("fabrics")
    if not isinstance(fabrics, dict):
        return errors
    empty = [name for name, value in fabrics.items() if value is None]
    strays = [name for name in fabrics if name in Fabric.model_fields and not _is_fabric(fabrics[name])]
    if not empty or not strays:
        return errors
    report.error(
        "FAB101",
        text.place(("fabrics", strays[0]), key=True),
        f"{listed(strays)}: expected under a fabric, got beside '{empty[0]}', which has no keys",
        f"indent these lines further than `{empty[0]}:`",
    )
    return [item for item in errors if item["loc"][:1] != ("fabrics",) or item["loc"][1] not in (*empty, *strays)]


def _is_fabric(value: Any) -> bool:
    return isinstance(value, dict) and not {"servers", "topology"}.isdisjoint(value)
