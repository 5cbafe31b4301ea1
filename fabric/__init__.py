"""Design of AI-datacenter networks as code: intent in, plan and switch configs out.

`from fabric import pipeline` has every verb of the command `fabric`, typed; the other names are
arguments, results and errors of these verbs. Each is imported on first use, so `import fabric` is fast. `docs/api.md` has
examples.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fabric.base.version import __version__

if TYPE_CHECKING:
    from fabric import pipeline
    from fabric.audit.checks import Scope
    from fabric.base.diagnostics import Diagnostic, InputError, MissingError
    from fabric.design.intent.intent import Intent
    from fabric.model.plan import FabricPlan, Plan
    from fabric.solver.estimate.request import EstimateRequest

__all__ = [
    "Diagnostic",
    "EstimateRequest",
    "FabricPlan",
    "InputError",
    "Intent",
    "MissingError",
    "Plan",
    "Scope",
    "__version__",
    "pipeline",
]
_HOMES = {
    "EstimateRequest": "fabric.solver.estimate.request",
    "Diagnostic": "fabric.base.diagnostics",
    "FabricPlan": "fabric.model.plan.plan",
    "InputError": "fabric.base.diagnostics",
    "Intent": "fabric.design.intent.intent",
    "MissingError": "fabric.base.diagnostics",
    "Plan": "fabric.model.plan.plan",
    "Scope": "fabric.audit.checks.run",
}


def __getattr__(name: str) -> Any:
    """PEP 562. The pipeline is a module, which Python finds by itself."""
    if name == "pipeline":
        return import_module("fabric.pipeline")
    if name not in _HOMES:
        raise AttributeError(f"module 'fabric' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
