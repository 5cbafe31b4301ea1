"""Static pictures of a fabric: what is drawn where, on the canvas."""
