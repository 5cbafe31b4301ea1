"""How reports write what they were given: on one line, without control characters, with paths as a repository has them."""

from __future__ import annotations

import os
from dataclasses import replace

from fabric.audit.checks import Finding, Merge
from fabric.base.text import printable, style


def clean(finding: Finding) -> Finding:
    """A finding whose every text is printable."""
    return replace(
        finding,
        id=printable(finding.id),
        device=printable(finding.device),
        file=printable(finding.file),
        message=printable(finding.message),
        hint=printable(finding.hint),
        silenced=printable(finding.silenced),
        merge=finding.merge and _clean(finding.merge),
    )


def _clean(merge: Merge) -> Merge:
    names = tuple(map(printable, merge.names))
    return replace(merge, text=printable(merge.text), names=names, file=printable(merge.file))


def relative(file: str) -> str:
    """A path below the working directory without that part; any other as it is."""
    if not os.path.isabs(file):
        return os.path.normpath(file) if file else ""
    below = os.path.relpath(file)
    return file if below == os.pardir or below.startswith(os.pardir + os.sep) else below


def device_and_message(finding: Finding) -> str:
    """Device and message."""
    return f"{finding.device}: {finding.message}" if finding.device else finding.message


def place(finding: Finding) -> str:
    """`intent/dc1.yaml:12:7`; readers of configs know lines and no columns."""
    column = f":{finding.column}" if finding.line and finding.column else ""
    return (finding.file or "no file") + (f":{finding.line}{column}" if finding.line else "")


def line(finding: Finding) -> str:
    """All of it but the hint, as every other message of the command looks."""
    return f"{place(finding)}: {style(finding.severity, f'{finding.severity}[{finding.id}]')}: {device_and_message(finding)}"
