from .journal import Staged as Staged, recover as recover, unfinished as unfinished
from .site_folder import LINE_ENDS as LINE_ENDS, LineEndsError as LineEndsError, OutputError as OutputError
from .store import (
    Changes as Changes,
    Comparison as Comparison,
    Keep as Keep,
    Store as Store,
    Transaction as Transaction,
    check as check,
    diff as diff,
)
