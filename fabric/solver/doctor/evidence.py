"""What the text of a run states: variables of NCCL, its release, and the lines of NCCL_DEBUG=INFO that point to a cause."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property

from fabric.solver.doctor import logs
from fabric.solver.doctor.causes import NEEDS, Cause, Release, releases, version
from fabric.solver.measured.variables import variables

_RELEASE = re.compile(r"NCCL version (\d+\.\d+\.\d+)|nccl-library=(\d{5})\b")
_NAMED = re.compile(
    r"(?!mlx\d$)[a-z][\w.-]*\d(?::\d+)?"
)  # one device of NCCL_IB_HCA, without digits the start of several names
FIRST_WITH_VARIABLES = (2, 16)  # release whose NCCL_DEBUG=INFO prints them
MAX_LINE_CHARACTERS = 90  # characters of a line


@dataclass(frozen=True)
class Evidence:
    """The text of a run and of its NCCL_DEBUG log, "" for none."""

    text: str = ""

    @cached_property
    def environment(self) -> dict[str, str]:
        """NCCL's variables without NCCL_."""
        return variables(self.text)

    @cached_property
    def release(self) -> str:
        """The release of NCCL, "" where the text does not state it."""
        found = _RELEASE.search(self.text)
        if found is None:
            return ""
        if found[1]:
            return found[1]
        number = int(found[2])
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    @cached_property
    def nics(self) -> int:
        """NICs that NCCL uses in a server, 0 where the text does not state them."""
        devices = self.environment.get("IB_HCA", "").removeprefix("=").split(",")
        chosen = len(devices) if all(_NAMED.fullmatch(name) for name in devices) else 0
        return min((count for count in (chosen, logs.named_nics(self.text)) if count), default=0)

    def nics_with(self, gpus_for_all: bool) -> int:
        """The same, also by what the channels send on, where a server runs a GPU for each NIC."""
        used = logs.used_nics(self.text) if gpus_for_all else 0
        return min(self.nics or used, used) if used else self.nics

    @cached_property
    def whole(self) -> bool:
        """Whether the text has every variable that NCCL read."""
        return bool(self.release) and version(self.release) >= FIRST_WITH_VARIABLES and logs.whole(self.text)

    def points_to(self, cause: Cause, has: Container[str] = NEEDS) -> str:
        """The line or variable that points most to a cause, "" for none; `has`: what the design has."""
        return self.sign(cause, has)[0]

    def sign(self, cause: Cause, has: Container[str] = NEEDS) -> tuple[str, float]:
        """(line or variable that points most to a cause, its weight), ("", 1) for none."""
        return max(self._signs(cause, has), key=lambda item: item[1], default=("", 1.0))

    def _signs(self, cause: Cause, has: Container[str]) -> Iterator[tuple[str, float]]:
        for sign in cause.log:
            if (not sign.where or sign.where in has) and (found := sign.pattern.search(self.text)):
                yield _line(self.text, found.start()), sign.weight
        for sign in cause.env:
            if sign.where and sign.where not in has:
                continue
            for key, value in self.environment.items():
                if sign.pattern.match(f"{key}={value}"):
                    yield f"NCCL_{key}={value}", sign.weight

    def excludes(self, cause: Cause) -> float:
        """The weight of what speaks most against a cause, 1 for nothing."""
        silent = cause.silent if self.whole and not self.points_to(cause) else 1.0
        return max((sign.weight for sign in cause.excludes if sign.pattern.search(self.text)), default=silent)

    def defect(self, collective: str) -> Release | None:
        """The known loss of speed of the release, for a collective."""
        if not self.release:
            return None
        mine = version(self.release)
        return next((item for item in releases() if item.first <= mine <= item.last and collective in item.collectives), None)


def _line(text: str, position: int) -> str:
    """The line at a position, without the host and the process that NCCL prints first."""
    line = text[text.rfind("\n", 0, position) + 1 :].split("\n", 1)[0].strip()
    return line.split("NCCL INFO ")[-1].split("NCCL WARN ")[-1][:MAX_LINE_CHARACTERS]
