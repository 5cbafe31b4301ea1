"""Every code of a message: which numbers belong to which subject, and what the codes without a check mean.

A code is never given again and never changes its meaning. A subject owns a range of three-digit numbers and, once they are
used up, the four-digit numbers that begin with them: FAB2010 to FAB2499 belong to the subject of FAB201 to FAB249.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Subject(NamedTuple):
    """What a range of codes is about."""

    name: str
    first: int
    last: int
    about: str
    home: str = ""  # the module, or the package, that its checks live in

    @property
    def span(self) -> str:
        """`FAB201 to FAB249`."""
        return f"FAB{self.first:03}" + (f" to FAB{self.last:03}" if self.last > self.first else "")


SUBJECTS = (
    Subject("report", 0, 0, "the report itself"),
    Subject("file", 1, 99, "reading an intent or another file"),
    Subject("language", 100, 129, "keys and values of the intent, and of options"),
    Subject("refusal", 130, 179, "what cannot be planned, generated, estimated or exported"),
    Subject("remark", 180, 199, "what can be planned, and is probably not meant"),
    Subject("silence", 200, 200, "what the intent silences", "fabric.checks.silence"),
    Subject("design", 201, 249, "checks of the plan", "fabric.checks.design"),
    Subject("files", 250, 299, "checks of the files of switches", "fabric.checks.files"),
    Subject("batfish", 300, 349, "checks of a Batfish server's answers", "fabric.checks.batfish"),
    Subject("servers", 450, 499, "checks of servers against their leaves", "fabric.checks.servers"),
    Subject("lab", 500, 549, "the lab, and limits that a command was given"),
)

# The codes of the stages before the checks, and of commands; those of checks are the `id` of their classes.
STAGES = {
    "FAB000": "a report was cut short",
    "FAB001": "a file cannot be read",
    "FAB002": "a file is too large",
    "FAB003": "a file is no YAML, or no text",
    "FAB004": "aliases unfold to too many values",
    "FAB005": "a key stands twice",
    "FAB006": "YAML that the language does not have: tags, merge keys, keys that are no words",
    "FAB007": "an empty file, or one that holds no mapping",
    "FAB008": "too many levels",
    "FAB101": "an unknown key",
    "FAB102": "a value of the wrong type, or an option that does not fit",
    "FAB103": "a key is missing",
    "FAB104": "a value out of its bounds",
    "FAB105": "an unknown version of the language",
    "FAB106": "an unknown model, or one that lacks what is asked of it",
    "FAB107": "an unknown network OS, or none where one is needed",
    "FAB108": "text of the wrong form",
    "FAB109": "keys that contradict each other",
    "FAB110": "a name that is no name of a device",
    "FAB131": "switches have too few ports",
    "FAB132": "no speed that both ends can do",
    "FAB133": "a stated number that would break uniformity",
    "FAB134": "a fabric that cannot be built: several numbers do not fit",
    "FAB135": "a pool is too small",
    "FAB136": "address space that overlaps",
    "FAB137": "an AS number that is used up, taken or no range",
    "FAB138": "two things have one name",
    "FAB139": "a pin that does not fit",
    "FAB140": "an attachment that finds no ports",
    "FAB141": "a site too large to be wired",
    "FAB142": "stated uplinks and oversubscription that do not meet",
    "FAB143": "fewer servers planned than built",
    "FAB144": "an overlay or a tenant's network that cannot be",
    "FAB145": "a port buffer that does not hold the headroom",
    "FAB146": "ECN that begins after PAUSE",
    "FAB147": "tenants without ports of their own",
    "FAB148": "two tenants name one port",
    "FAB149": "a subnet without room",
    "FAB150": "a lock file that is none",
    "FAB151": "an MTU below an RDMA packet",
    "FAB152": "a floor plan that does not fit",
    "FAB153": "a cable that is not sold, or an unknown medium",
    "FAB154": "the lock file is gone",
    "FAB155": "an unknown line of the lock file",
    "FAB156": "a wrong value in the lock file",
    "FAB157": "the lock file is too large",
    "FAB160": "output that cannot be written",
    "FAB161": "a switch that no network OS fits",
    "FAB162": "`--limit` matches nothing",
    "FAB163": "something named that the plan does not have",
    "FAB164": "the network OS, or its release, cannot do what the plan asks for",
    "FAB165": "a template or writer refuses a switch",
    "FAB166": "the folder of a site is that of another one",
    "FAB167": "a run was stopped half-way",
    "FAB168": "what a network OS has no record for: not supported on it",
    "FAB170": "an override, a failed element or a device that is not there",
    "FAB171": "a failure that parts the fabric",
    "FAB172": "a table, platform or job file that cannot be used",
    "FAB173": "a training job that does not fit",
    "FAB174": "an estimate asked for that has no answer",
    "FAB175": "LLDP output that cannot be read",
    "FAB176": "LLDP output that contradicts itself",
    "FAB177": "the inventory server refuses a request",
    "FAB178": "no address or token of the inventory server",
    "FAB179": "an object in the inventory that is not ours",
    "FAB181": "AS numbers that are not private",
    "FAB182": "one spine",
    "FAB183": "numbers in use change",
    "FAB184": "a key without effect",
    "FAB185": "links must be re-cabled",
    "FAB186": "one NIC is cabled in two fabrics",
    "FAB187": "a tenant without ports, or ports without a tenant",
    "FAB188": "cables outgrow the lengths in use",
    "FAB189": "in the worst case PAUSE comes before every packet is marked",
    "FAB190": "two default routes in one table",
    "FAB191": "servers that do not fit into one rack",
    "FAB192": "cables that are longer than stated",
    "FAB193": "two branches gave out the same numbers",
    "FAB195": "cables that are longer than the longest class",
    "FAB196": "cables that are sold longer than headroom assumes",
    "FAB197": "ports that the design leaves free",
    "FAB198": "a unit without effect",
    "FAB500": "a scale of the lab that is none",
    "FAB501": "a fabric that cannot be scaled down so far",
    "FAB502": "a tenant that the scaled-down fabric has no room for",
    "FAB510": "a network OS that the lab does not run",
    "FAB511": "a fabric that the lab does not have",
    "FAB512": "`--scale-down` is no scale",
    "FAB513": "a file that the lab's daemons do not take",
    "FAB514": "a rack above the limit of power",
}


def subject_of(code: str) -> Subject | None:
    """The subject of a code, by its range; None for what is no code of any subject."""
    digits = re.fullmatch(r"FAB([0-9]{3})[0-9]?", code)
    number = int(digits[1]) if digits else -1
    return next((subject for subject in SUBJECTS if subject.first <= number <= subject.last), None)
