"""What people carry away: cabling lists, bill of materials, exports, inventories, monitoring, reports, sweeps."""
