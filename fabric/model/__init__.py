"""Records only: settings that an intent states and the plan keeps, the plan, facts that a config says."""
