"""What the copies of files that Batfish reads are made of; each network OS has a view of its own."""
