"""SONiC: config_db.json and its frr.conf, read back."""
