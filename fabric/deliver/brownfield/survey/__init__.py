"""What is there, from the files of its devices: switches, servers and cables."""
