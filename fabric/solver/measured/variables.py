"""NCCL's variables in any text of a run: its log, the job script, a container's environment, a manifest."""

from __future__ import annotations

import re

_NAME = r"\bNCCL_([A-Z][A-Z0-9_]*)\b"
_VALUE = r"[\"']?(=?[\w^,:;./-]+)"
_SET = re.compile(
    rf"{_NAME}(?:"
    r"[\"']?\]?[ \t]{0,9}[=:][ \t]{0,9}"  # NAME=VALUE, "NAME": "VALUE", environ["NAME"] = "VALUE"
    r"|[ \t]+set (?:by environment )?to[ \t]+"  # a log of NCCL
    r"|[\"']?[ \t]{0,9}\r?\n[ \t]*value[ \t]{0,9}:[ \t]{0,9}"  # the next line of a manifest of Kubernetes
    rf"){_VALUE}"
)
_WORDS = re.compile(rf"^[ \t]*(?:ENV|setenv)[ \t]+{_NAME}[ \t]+{_VALUE}", re.MULTILINE)  # Dockerfile, csh
_UNSET = re.compile(rf"^[ \t]*unset(?:env)?[ \t]+{_NAME}", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:#[ \t#]|#(?:export|NCCL)|//).*$", re.MULTILINE)  # a directive such as #SBATCH is none


def variables(text: str) -> dict[str, str]:
    """Variable without NCCL_ → value, the last one where it is set several times; not those of comments and unset ones."""
    if "NCCL_" not in text:
        return {}
    bare = _COMMENT.sub("", text)
    assignments = [
        (match.start(), match[1], match[2].rstrip(".")) for pattern in (_SET, _WORDS) for match in pattern.finditer(bare)
    ]
    assignments += [(match.start(), match[1], "") for match in _UNSET.finditer(bare)]
    last = {name: value for _, name, value in sorted(assignments)}
    return {name: value for name, value in last.items() if value}
