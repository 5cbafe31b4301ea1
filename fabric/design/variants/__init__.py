"""Other designs made of one: smaller, or on another network OS. The lab builds them."""
