from .estimate.calls import Figures as Figures
from .estimate.plot import Series as Series, busbw_svg as busbw_svg
from .network import (
    BY_PAIR as BY_PAIR,
    GBPS_PER_GBYTE_S as GBPS_PER_GBYTE_S,
    Bools as Bools,
    Floats as Floats,
    Ints as Ints,
    Network as Network,
    PortNamer as PortNamer,
    Routes as Routes,
    unnamed as unnamed,
    walk as walk,
)
