"""State of switches against the plan: sessions, routes, tunnels, ports, counters and optics; verify.py has the overview."""
