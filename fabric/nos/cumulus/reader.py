"""NVUE's files among others."""

from fabric.nos.lazy import Lazy
from fabric.nos.reading.reader import Reader

BLANK = r"(?:[ \t]|\\\n)+"
SCRIPT = rf"^[ \t]*(?:[^\s'\"]+[$#>][ \t]*)?(?:sudo[ \t]+)?nv{BLANK}"  # as a user types it or a script has it
HOST_NAME = BLANK.join(("set", *(rf"[\"']?{word}[\"']?" for word in ("system", "hostname")), r"[\"']?([\w.-]+)"))

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    rank=20,
    signs=(
        (3, r"\bnvue-api-version\"?:"),
        (3, SCRIPT + r"set[ \t]+\S"),
        (2, r"^- set:"),
        (2, r"^[ \t]+type: swp"),
        (1, r"^[ \t]+router:$"),
    ),
    disk_folders=frozenset({"etc", "nvue.d"}),
    host_name=SCRIPT + HOST_NAME,
    script=SCRIPT + r"(?:set|unset|config)\b",
)
