"""SONiC as Batfish reads it."""
