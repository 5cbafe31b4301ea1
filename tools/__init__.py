"""Made for who works on the project: no part of what is installed."""
