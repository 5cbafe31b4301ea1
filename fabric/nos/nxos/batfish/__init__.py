"""NX-OS as Batfish reads it."""
