"""What must come of a plan: sessions, forwarding tables, overlay routes. Nothing here has seen a file or a daemon."""
