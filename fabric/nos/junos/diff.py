"""Changes of Junos: `set`, `delete` and `insert`."""

import re

from fabric.nos.dialect import SET, Dialect, Statements

# Statements of one value, where `set` takes the place of what was there. All others stand beside one another
# (`address 10.0.0.0/31`, `import FABRIC-IN`), or are made of parts that `set` would mix.
SINGLE = re.compile(
    "autonomous-system|bandwidth-limit|burst-size-limit|cable-length|class|congestion-notification-profile|description|"
    "detection|dynamic-threshold|encapsulation|encrypted-password|flow-control-queue|hold-time|host-name|"
    "inactivity-interval|instance-type|local-address|local-preference|maximum|message|minimum-interval|mtu|multiplier|"
    "number-of-sub-ports|peer-as|percent|poll-interval|priority|recovery|route-distinguisher|router-id|scheduler-map|"
    "speed|teardown|time-zone|ttl|vlan-id|vni|vrf-target|vtep-source-interface|watchdog-action"
)
NAMED_BY = {"drop-profile-map": 5, "transmit-rate": 1, "message": 1, "description": 1}

DIALECT = Dialect({"juniper.conf": SET}, statements=Statements(SINGLE, NAMED_BY))
