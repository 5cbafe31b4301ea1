"""Changes of SONiC: a JSON Patch of its database, commands of FRR."""

from fabric.nos.dialect import COMMANDS, JSON_PATCH, Dialect
from fabric.nos.frr.diff import RULES

DIALECT = Dialect({"config_db.json": JSON_PATCH, "frr.conf": COMMANDS}, RULES)
