from .fields import Fields as Fields, parse as parse, read_text as read_text
from .figures import Figures as Figures
from .network import (
    GBPS_PER_GBYTE_S as GBPS_PER_GBYTE_S,
    Bools as Bools,
    Floats as Floats,
    Ints as Ints,
    Network as Network,
    PortNamer as PortNamer,
    unnamed as unnamed,
)
from .plot import Series as Series, busbw_svg as busbw_svg
from .routes import BY_PAIR as BY_PAIR, Routes as Routes, walk as walk
