"""From a survey to the shortest intent that plans it, and its lock."""
