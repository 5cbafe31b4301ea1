"""Time zones as NX-OS states them: an offset from UTC and a rule of summer time, in place of a name of the tz database."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

DATABASE = files("tzdata")  # the package, not that of the machine: the same bytes everywhere
DEFAULT = ("clock timezone UTC 0 0",)
YEARS = range(2026, 2034)  # whose rules must be one
LAST_WEEK = 5
MINUTE = timedelta(minutes=1)
STATEMENT = re.compile(r"^clock (?:timezone|summer-time) .*\S", re.MULTILINE)


@cache
def clock(zone: str) -> tuple[str, ...]:
    """The statements of a time zone; those of UTC where the tz database does not have it.

    `clock timezone NAME HOURS MINUTES` and `clock summer-time NAME WEEK DAY MONTH TIME WEEK DAY MONTH TIME MINUTES`, as
    the data model of Cisco's Network as Code documents them; week 5 is the last one. A zone whose summer time follows no
    such rule has its standard time.
    """
    try:
        with DATABASE.joinpath("zoneinfo", zone).open("rb") as file:
            tz = ZoneInfo.from_file(file, key=zone)
    except (OSError, ValueError):
        return DEFAULT
    months = [datetime(YEARS[0], month, 1, tzinfo=UTC) for month in range(1, 13)]
    standard = min(months, key=lambda instant: _offset(tz, instant))
    total = int(_offset(tz, standard).total_seconds()) // 60
    hours = abs(total) // 60 * (-1 if total < 0 else 1)
    first = f"clock timezone {_name(tz, standard)} {hours} {abs(total) % 60}"
    summer = max(months, key=lambda instant: _offset(tz, instant))
    more = (_offset(tz, summer) - _offset(tz, standard)) // MINUTE
    rules = [_rule([found[at] for found in changes]) for at in (0, 1)] if len(changes := _changes(tz)) == len(YEARS) else [""]
    if not more or not all(rules):
        return (first,)
    return first, f"clock summer-time {_name(tz, summer)} {' '.join(rules)} {more}"


def zones(files: Mapping[str, str]) -> tuple[str, ...]:
    """The time zones that the statements of a switch may stand for, those of the area with most of them first."""
    stated = tuple(line for text in files.values() for line in STATEMENT.findall(text))
    if not stated or stated == DEFAULT:
        return ()
    name = stated[0].split()[2].removeprefix("UTC")
    found = sorted(
        zone
        for zone in DATABASE.joinpath("zones").read_text("utf-8").split()
        if "/" in zone and name in _names(zone) and clock(zone) == stated
    )
    areas = [zone.partition("/")[0] for zone in found]
    return tuple(sorted(found, key=lambda zone: (-areas.count(zone.partition("/")[0]), zone)))


def _names(zone: str) -> set[str | None]:
    tz = ZoneInfo(zone)
    return {datetime(YEARS[0], month, 1, tzinfo=tz).tzname() for month in (1, 7)} | {"UTC"}


def _name(tz: tzinfo, instant: datetime) -> str:
    """`CET`; `UTC-03` of a zone whose name is its offset."""
    name = instant.astimezone(tz).tzname() or ""
    return name if name.isalpha() else f"UTC{name}"


def _offset(tz: tzinfo, instant: datetime) -> timedelta:
    return instant.astimezone(tz).utcoffset() or timedelta()


def _changes(tz: tzinfo) -> list[tuple[datetime, datetime]]:
    """Of every year with one summer time its begin and end, as clocks show them before."""
    found = []
    for year in YEARS:
        begin: list[datetime] = []
        end: list[datetime] = []
        for month in range(1, 13):
            low = datetime(year, month, 1, tzinfo=UTC)
            high = low + timedelta(days=monthrange(year, month)[1])
            before = _offset(tz, low)
            if (after := _offset(tz, high)) != before:
                while high - low > MINUTE:
                    middle = low + (high - low) // 2
                    low, high = (middle, high) if _offset(tz, middle) == before else (low, middle)
                (begin if after > before else end).append((high + before).replace(second=0, microsecond=0, tzinfo=None))
        if len(begin) == len(end) == 1:
            found.append((begin[0], end[0]))
    return found


def _rule(days: Sequence[datetime]) -> str:
    """`5 Sun Mar 02:00`; "" for days of several years that have no rule."""
    if len({format(day, "%w %m %H:%M") for day in days}) > 1:
        return ""
    weeks = {(day.day + 6) // 7 for day in days}
    last = all(day.day > monthrange(day.year, day.month)[1] - 7 for day in days)
    week = LAST_WEEK if last else next(iter(weeks)) if len(weeks) == 1 else 0
    day = days[0]
    weekday = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[day.weekday()]
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[day.month - 1]
    return f"{week} {weekday} {month} {day:%H:%M}" if week else ""
