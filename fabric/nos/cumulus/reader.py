"""NVUE's files among others."""

from fabric.nos.late import Late
from fabric.nos.reading import Reader

READER = Reader(
    Late(__package__, "read.device:read"),
    rank=20,
    signs=(
        (3, r"\bnvue-api-version\"?:"),
        (3, r"^nv set \S"),
        (2, r"^- set:"),
        (2, r"^[ \t]+type: swp"),
        (1, r"^[ \t]+router:$"),
    ),
    disk_folders=frozenset({"etc", "nvue.d"}),
    host_name=r"^[ \t]*nv set system hostname\s+\"?([\w.-]+)",
)
