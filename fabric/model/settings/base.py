"""What every part of the intent language is built from."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field


class Key(BaseModel):
    """A mapping of the intent: frozen, strict about types, and it refuses keys it does not know.

    The validator of a mapping is built when a value of it is first made.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,30}[A-Za-z0-9])?")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise ValueError("expected a name of letters, digits and inner hyphens, at most 32 of them")
    return text


def host_name(text: str) -> str:
    if not HOST.fullmatch(text) or ".." in text:
        raise ValueError("expected a host name: letters, digits, inner hyphens and dots, at most 63 of them")
    return text


def _model(text: str) -> str:
    if not HOST.fullmatch(text) or ".." in text:
        raise ValueError("expected a model name: letters, digits, inner . _ and -, at most 63 of them")
    return text


# Configs carry `${NAME}` for a secret, which `envsubst` or a vault fills in, and Ansible and containerlab take the files
# that they load for templates: text of a person must be nothing that any of them replaces.
FILLED_IN = re.compile(r"\$\{|\$[A-Za-z_]|\{[{%#]")
NOT_FILLED_IN = "expected text without $NAME, ${NAME} and {{ … }}, as what fills secrets into configs would fill in these too"


def _line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected one line of text without control characters")
    if FILLED_IN.search(text):
        raise ValueError(NOT_FILLED_IN)
    return text


def as_list(value: Any) -> Any:
    """Lets a single entry stand for a list of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


TENANT_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,30}[A-Za-z0-9])?")


def _tenant_name(text: str) -> str:
    if not TENANT_NAME.fullmatch(text):
        raise ValueError("expected a name of letters, digits, inner hyphens and underscores, at most 32 of them")
    return text


TenantName = Annotated[
    str, AfterValidator(_tenant_name), Field(json_schema_extra={"pattern": f"^{TENANT_NAME.pattern}$"})
]  # of a tenant and its VRF, or of a network
Name = Annotated[str, AfterValidator(_name), Field(json_schema_extra={"pattern": f"^{NAME.pattern}$"})]
Host = Annotated[str, AfterValidator(host_name), Field(json_schema_extra={"pattern": f"^{HOST.pattern}$"})]
Model = Annotated[str, AfterValidator(_model), Field(json_schema_extra={"pattern": f"^{HOST.pattern}$"})]
Line = Annotated[str, AfterValidator(_line), Field(max_length=200)]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Gbps = Annotated[int, Field(ge=1, le=12_800)]
Ratio = Annotated[float, Field(gt=0, le=1000)]
Metres = Annotated[int, Field(ge=0, le=100_000)]
ListOf = BeforeValidator(as_list)
