from .authentication import password as password
from .folder import Device as Device, Folder as Folder, scan as scan
from .indented import (
    ANY as ANY,
    Layout as Layout,
    Section as Section,
    paths as paths,
    read_indented as read_indented,
)
from .passes import (
    Entry as Entry,
    add_policies as add_policies,
    denial as denial,
    read_route_maps as read_route_maps,
)
from .prefix_rules import (
    Net as Net,
    effective as effective,
    lets_in as lets_in,
    rule as rule,
    settle as settle,
)
from .readers import is_read as is_read, read_device as read_device
from .recognize import Kind as Kind
from .routes import static_route as static_route
from .secret import (
    OF_TRAPS as OF_TRAPS,
    community as community,
    form_of as form_of,
    placeholder as placeholder,
    typed as typed,
)
from .unread import PART_REASON as PART_REASON, SEVERAL_REASON as SEVERAL_REASON
from .words import (
    ROOT_LOGIN as ROOT_LOGIN,
    asn as asn,
    each_name as each_name,
    esi as esi,
    gbps as gbps,
    integer as integer,
    is_address as is_address,
    mac as mac,
    need_number as need_number,
    numbers as numbers,
    prefix as prefix,
)
from .yaml_lines import DEEPEST as DEEPEST, NOTHING as NOTHING, Branch as Branch, read_yaml as read_yaml
