from .folder import Device as Device, Folder as Folder, scan as scan
from .permitted_routes import (
    Entry as Entry,
    Net as Net,
    add_policies as add_policies,
    denial as denial,
    effective as effective,
    lets_in as lets_in,
    read_route_maps as read_route_maps,
    rule as rule,
    settle as settle,
)
from .readers import (
    EMPTY as EMPTY,
    PART_REASON as PART_REASON,
    SEVERAL_REASON as SEVERAL_REASON,
    Kind as Kind,
    is_read as is_read,
    read_device as read_device,
)
from .sections import ANY as ANY, Layout as Layout, Section as Section, paths as paths, read_indented as read_indented
from .values import (
    OF_TRAPS as OF_TRAPS,
    ROOT_LOGIN as ROOT_LOGIN,
    asn as asn,
    community as community,
    each_name as each_name,
    esi as esi,
    form_of as form_of,
    gbps as gbps,
    integer as integer,
    is_address as is_address,
    login_order as login_order,
    mac as mac,
    need_number as need_number,
    numbers as numbers,
    password as password,
    placeholder as placeholder,
    prefix as prefix,
    static_route as static_route,
    typed as typed,
)
from .yaml_lines import DEEPEST as DEEPEST, NOTHING as NOTHING, Branch as Branch, read_yaml as read_yaml
