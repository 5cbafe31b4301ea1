"""Files of Junos among others."""

from fabric.nos.lazy import Lazy
from fabric.nos.reading.reader import Reader

FIRST = "version|groups|apply-groups|system|chassis|interfaces"  # sections that a config begins with
SHOW = "show configuration | display set"

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    rank=50,
    signs=(
        (3, r"^system \{"),
        (3, r"^set (?:system|interfaces|protocols|routing-options|policy-options|version|chassis|groups) "),
        (2, r"^interfaces \{"),
        (2, r"^(?:protocols|routing-instances|policy-options|routing-options) \{"),
        (2, r"^## Last (?:commit|changed)"),
        (1, r"^[ \t]+family inet6? \{"),
    ),
    host_name=r"^[ \t]*(?:set system )?host-name\s+\"?([\w.-]+)",
    usual=frozenset({"juniper"}),
    other_forms=(  # of `| display json` and `| display xml`
        (rf'"configuration"\s*:\s*(?:\[\s*)?\{{\s*"(?:attributes|@|{FIRST})"', SHOW),
        (rf"<configuration(?:\s[^<>]*)?>\s*<(?:{FIRST})\b", SHOW),
    ),
)
