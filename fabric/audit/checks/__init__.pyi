from .base import Check as Check, Design as Design, FilesCheck as FilesCheck, ids as ids, of_subject as of_subject
from .ends import (
    End as End,
    Ends as Ends,
    Owner as Owner,
    RemoteEnd as RemoteEnd,
    is_enabled as is_enabled,
    is_management as is_management,
    is_up as is_up,
    network_of as network_of,
    tunnel_addresses as tunnel_addresses,
    vlan_of as vlan_of,
    vrf_of as vrf_of,
    without_prefix_length as without_prefix_length,
)
from .finding import (
    ERROR as ERROR,
    FAIL_ON as FAIL_ON,
    NOTE as NOTE,
    SEVERITIES as SEVERITIES,
    WARNING as WARNING,
    About as About,
    Finding as Finding,
    FindingDocument as FindingDocument,
    Merge as Merge,
    Read as Read,
    Subject as Subject,
    Verdict as Verdict,
)
from .network import Network as Network, outliers as outliers, place as place, role as role
from .omitted import Silences as Silences
from .planned import planned_rows as planned_rows
from .rows import (
    KINDS as KINDS,
    Key as Key,
    is_loopback as is_loopback,
    session_name as session_name,
    table_name as table_name,
)
from .run import Outcome as Outcome, Scope as Scope, named_folder as named_folder
from .site import finding_of as finding_of, warnings_of as warnings_of
from .statements import (
    about as about,
    message as message,
    missing_files as missing_files,
    misspelled as misspelled,
    remediation as remediation,
    statement_differences as statement_differences,
    syntax_of as syntax_of,
    unexplained as unexplained,
    unknown_addresses as unknown_addresses,
)
