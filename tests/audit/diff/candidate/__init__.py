"""Models of the configuration of a switch, independent of the rules that the commands are written by."""
