from .addresses import address as address, ipv4 as ipv4, is_unicast as is_unicast
from .numbers import (
    duration as duration,
    percent as percent,
    power as power,
    size as size,
    time as time,
    time_span as time_span,
    trimmed as trimmed,
    volume as volume,
)
from .screen import (
    FILE as FILE,
    Screen as Screen,
    diff_line as diff_line,
    fit as fit,
    guarded as guarded,
    on as on,
    padded as padded,
    screen as screen,
    style as style,
    width_of as width_of,
    wrapped as wrapped,
)
from .table import aligned as aligned
from .words import (
    and_more as and_more,
    counted as counted,
    devices as devices,
    either as either,
    listed as listed,
    plural as plural,
    printable as printable,
    visible as visible,
)
