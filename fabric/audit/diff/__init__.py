"""What changes from one intent to another: the design, what it carries, and the commands for every device."""
