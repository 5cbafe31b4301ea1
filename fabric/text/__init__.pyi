from .addresses import address as address, ipv4 as ipv4
from .numbers import duration as duration, percent as percent, size as size, trimmed as trimmed
from .table import aligned as aligned
from .words import and_more as and_more, counted as counted, listed as listed, plural as plural, printable as printable
