"""What a format cannot say of the network OSes of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabric.base.diagnostics import Diagnostic, Place
from fabric.base.text import plural
from fabric.model.plan import Plan
from fabric.nos.target import UNSUPPORTED, target

LINUX = "as plain Linux without a configuration"
NEEDS = {  # format → field of the record of a network OS, what becomes of switches whose network OS has none
    "ansible": ("ansible", "without variables of a connection"),
    "anta": ("anta", "left out"),
    "collect": ("collect", "left out"),
    "containerlab": ("containerlab", LINUX),
    "containerlab-files": ("containerlab", LINUX),
    "prometheus": ("exporters", "by SNMP"),
}


def unsupported(form: str, plan: Plan) -> Iterator[Diagnostic]:
    """A warning for every network OS that a format knows nothing of."""
    field, without = NEEDS.get(form, ("", ""))
    systems = Counter(device.nos for fabric in plan.fabrics.values() for device in fabric.switches if device.nos)
    for nos, count in sorted(systems.items()) if field else ():
        if getattr(target(nos), field) in (None, ()):
            message = f"not supported on {target(nos).title}: {plural(count, 'switch', 'switches')} {without}"
            yield Diagnostic(
                UNSUPPORTED, Place(form), message, f"define `{field}` in the target of the network OS", "warning"
            )
