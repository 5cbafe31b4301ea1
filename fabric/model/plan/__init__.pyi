from .blocks import Area as Area, Block as Block, Ints as Ints
from .cages import (
    Layout as Layout,
    NoFit as NoFit,
    NoSuchSpeed as NoSuchSpeed,
    Slot as Slot,
    capacity as capacity,
    spare as spare,
    splits_left as splits_left,
)
from .coordinates import (
    ServerPorts as ServerPorts,
    UnitPlan as UnitPlan,
    nic_name as nic_name,
    server_ports as server_ports,
    servers_per_rack as servers_per_rack,
    unit_plan as unit_plan,
)
from .devices import (
    ATTACHED as ATTACHED,
    CORE as CORE,
    LEAF as LEAF,
    PRIVATE_2_BYTE as PRIVATE_2_BYTE,
    PRIVATE_4_BYTE as PRIVATE_4_BYTE,
    SERVER as SERVER,
    SPINE as SPINE,
    SWITCH_ROLES as SWITCH_ROLES,
    Device as Device,
)
from .epochs import Epoch as Epoch, Record as Record, Shape as Shape, rank as rank
from .layouts import (
    core_downlinks as core_downlinks,
    leaf_layout as leaf_layout,
    leaf_ports as leaf_ports,
    leaf_spine_ports_used as leaf_spine_ports_used,
    most_down as most_down,
    spine_downlinks as spine_downlinks,
    spine_layout as spine_layout,
)
from .lengths import (
    CLASSES_M as CLASSES_M,
    ENDS as ENDS,
    FLOOR as FLOOR,
    LOCK as LOCK,
    LONGER_WARNING as LONGER_WARNING,
    STATED as STATED,
    WORDS as WORDS,
    Length as Length,
    Lengths as Lengths,
    Longer as Longer,
    class_of as class_of,
    longer_text as longer_text,
    source as source,
    words as words,
)
from .links import (
    ATTACHMENT as ATTACHMENT,
    KINDS as KINDS,
    LEAF_LEAF as LEAF_LEAF,
    LEAF_SPINE as LEAF_SPINE,
    SERVER_LEAF as SERVER_LEAF,
    SPINE_CORE as SPINE_CORE,
    Links as Links,
    concatenate as concatenate,
)
from .lock import TenantNumber as TenantNumber
from .lock_file import blocks_of as blocks_of
from .lossless import (
    AttachedPorts as AttachedPorts,
    Buffer as Buffer,
    FabricLossless as FabricLossless,
    Lossless as Lossless,
    Marking as Marking,
    Qos as Qos,
    RoleLossless as RoleLossless,
    SpeedAndLength as SpeedAndLength,
    Watchdog as Watchdog,
)
from .own_prefixes import (
    DEFAULT_ROUTES as DEFAULT_ROUTES,
    OwnPrefix as OwnPrefix,
    denied as denied,
    left_of as left_of,
    own_networks as own_networks,
    own_pools as own_pools,
    tenants_behind as tenants_behind,
)
from .plan import FabricPlan as FabricPlan, Plan as Plan
from .port_labels import PortLabels as PortLabels
from .ports import Peer as Peer, Port as Port, PortRef as PortRef, Session as Session, Subinterface as Subinterface
from .positions import Positions as Positions
from .settings import Constraints as Constraints, Release as Release, SiteSettings as SiteSettings
from .silence import in_file as in_file, unsilenced as unsilenced
from .sizing import GroupSize as GroupSize, Sizing as Sizing
from .spec import FabricSpec as FabricSpec, GroupSpec as GroupSpec, SiteSpec as SiteSpec, TierSpec as TierSpec
from .summary import oversubscription as oversubscription
from .tenancy import (
    Acl as Acl,
    External as External,
    Lag as Lag,
    Network as Network,
    Overlay as Overlay,
    OverlaySession as OverlaySession,
    Pair as Pair,
    Vrf as Vrf,
)
from .tenants import (
    CLOSED as CLOSED,
    MAX_TENANTS as MAX_TENANTS,
    NO_TENANT as NO_TENANT,
    VLAN_BASE as VLAN_BASE,
    VXLAN_BYTES as VXLAN_BYTES,
    ExternalConnection as ExternalConnection,
    NetworkPlan as NetworkPlan,
    Tenancy as Tenancy,
    TenantPlan as TenantPlan,
)
from .views import Balancing as Balancing, Management as Management, SwitchView as SwitchView, Underlay as Underlay
