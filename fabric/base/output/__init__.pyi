from .apply import recover as recover
from .compare import Comparison as Comparison, check as check, diff as diff
from .errors import LINE_ENDS as LINE_ENDS, LineEndsError as LineEndsError, OutputError as OutputError
from .journal import unfinished as unfinished
from .stage import Staged as Staged
from .store import Changes as Changes, Keep as Keep, Store as Store, Transaction as Transaction
