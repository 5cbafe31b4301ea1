"""Every code of a message: the range of each subject, and the meaning of the codes without a check.

A code is never reused and never changes its meaning. A subject owns a range of three-digit numbers and, once they are used
up, the four-digit numbers that begin with them: FAB2010 to FAB2499 belong to the subject of FAB201 to FAB249.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Subject(NamedTuple):
    """A range of codes and its subject."""

    name: str
    first: int
    last: int
    about: str
    home: str = ""  # module or package of its checks

    @property
    def span(self) -> str:
        """`FAB201 to FAB249`."""
        return f"FAB{self.first:03}" + (f" to FAB{self.last:03}" if self.last > self.first else "")


SUBJECTS = (
    Subject("report", 0, 0, "the report itself"),
    Subject("file", 1, 99, "reading an intent or another file"),
    Subject("language", 100, 129, "keys and values of the intent, and of options"),
    Subject("refusal", 130, 179, "a design or request that cannot be planned, generated, estimated or exported"),
    Subject("remark", 180, 199, "warnings and notes about a valid plan"),
    Subject("silence", 200, 200, "suppressions in the intent", "fabric.checks.silence"),
    Subject("design", 201, 249, "checks of the plan", "fabric.checks.design"),
    Subject("files", 250, 299, "checks of switch configs", "fabric.checks.files"),
    Subject("batfish", 300, 349, "checks with a Batfish server", "fabric.checks.batfish"),
    Subject("servers", 450, 499, "checks of server configs against their leaves", "fabric.checks.servers"),
    Subject("lab", 500, 549, "the lab, and limits set by an option"),
)

# Codes of the stages before the checks, and of commands; the code of a check is the `id` of its class.
STAGES = {
    "FAB000": "a report was truncated",
    "FAB001": "a file cannot be read",
    "FAB002": "a file is too large",
    "FAB003": "a file is not YAML, or not text",
    "FAB004": "YAML aliases expand to too many values",
    "FAB005": "a key appears twice",
    "FAB006": "unsupported YAML: a tag, a merge key or a key that is not text",
    "FAB007": "a file is empty, or is not a mapping",
    "FAB008": "too many nested levels",
    "FAB101": "an unknown key",
    "FAB102": "a value of the wrong type, or an invalid option",
    "FAB103": "a required key is missing",
    "FAB104": "a value out of range",
    "FAB105": "an unsupported version of the intent language",
    "FAB106": "an unknown model, or a model that lacks a required property",
    "FAB107": "an unknown network OS, or none where one is required",
    "FAB108": "text in the wrong format",
    "FAB109": "keys that contradict each other",
    "FAB110": "an invalid device name",
    "FAB131": "too few ports on a switch",
    "FAB132": "no common speed of both ends of a link",
    "FAB133": "a stated count that does not divide evenly",
    "FAB134": "a fabric that cannot be built: its sizes do not fit together",
    "FAB135": "a pool is too small",
    "FAB136": "address ranges overlap",
    "FAB137": "an AS number that is used up or already assigned, or an invalid AS number range",
    "FAB138": "a duplicate name",
    "FAB139": "a pinned value that does not fit",
    "FAB140": "no free ports for an attachment",
    "FAB141": "a site too large to be wired",
    "FAB142": "stated uplinks and oversubscription contradict each other",
    "FAB143": "fewer servers planned than in service",
    "FAB144": "an overlay or tenant network that cannot be built",
    "FAB145": "a port buffer too small for the PFC headroom",
    "FAB146": "an ECN threshold above the XOFF threshold",
    "FAB147": "tenants without ports of their own",
    "FAB148": "a port assigned to two tenants",
    "FAB149": "a subnet without free addresses",
    "FAB150": "an invalid lock file",
    "FAB151": "an MTU too small for an RDMA packet",
    "FAB152": "a floor plan that does not fit",
    "FAB153": "a cable length that is not sold, or an unknown cable medium",
    "FAB154": "the lock file is missing",
    "FAB155": "an unknown line in the lock file",
    "FAB156": "an invalid value in the lock file",
    "FAB157": "the lock file is too large",
    "FAB160": "output that cannot be written",
    "FAB161": "no network OS for a switch",
    "FAB162": "`--limit` matches no device",
    "FAB163": "a name that the plan does not contain",
    "FAB164": "a feature that the network OS, or its release, does not support",
    "FAB165": "a template or writer rejects a switch",
    "FAB166": "the output folder belongs to another site",
    "FAB167": "an interrupted run",
    "FAB168": "a feature that `fabric` does not support on a network OS",
    "FAB170": "an override, failed element or device that does not exist",
    "FAB171": "a failure that partitions the fabric",
    "FAB172": "an invalid table, platform file or job file",
    "FAB173": "a training job that does not fit the fabric",
    "FAB174": "an estimate that cannot be computed",
    "FAB175": "LLDP output that cannot be read",
    "FAB176": "contradictory LLDP output",
    "FAB177": "the inventory server rejects a request",
    "FAB178": "no URL or token of the inventory server",
    "FAB179": "an inventory object that belongs to another site",
    "FAB181": "AS numbers outside the private ranges",
    "FAB182": "a single spine",
    "FAB183": "assigned numbers change",
    "FAB184": "a key without effect",
    "FAB185": "links to be re-cabled",
    "FAB186": "one NIC is cabled in two fabrics",
    "FAB187": "a tenant without ports, or ports without a tenant",
    "FAB188": "cables longer than the lengths in service",
    "FAB189": "PFC can send XOFF before ECN marks every packet",
    "FAB190": "two default routes in one table",
    "FAB191": "servers that do not fit into one rack",
    "FAB192": "cables longer than the stated length",
    "FAB193": "numbers assigned twice by two branches",
    "FAB195": "cables longer than the longest length class",
    "FAB196": "cables sold longer than the headroom assumes",
    "FAB197": "ports left free by the design",
    "FAB198": "a unit without effect",
    "FAB500": "an invalid scale of the lab",
    "FAB501": "a fabric that cannot be scaled down so far",
    "FAB502": "no room for a tenant in the scaled-down fabric",
    "FAB510": "a network OS that the lab does not run",
    "FAB511": "a fabric that is not in the lab",
    "FAB512": "an invalid value of `--scale-down`",
    "FAB513": "a file rejected by the lab's daemons",
    "FAB514": "a rack above its power limit",
}


def subject_of(code: str) -> Subject | None:
    """The subject whose range contains a code; None where there is none."""
    digits = re.fullmatch(r"FAB([0-9]{3})[0-9]?", code)
    number = int(digits[1]) if digits else -1
    return next((subject for subject in SUBJECTS if subject.first <= number <= subject.last), None)
