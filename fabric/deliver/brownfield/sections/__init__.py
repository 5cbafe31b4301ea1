"""What configs say beside the topology: tenants, overlay, QoS, management."""
