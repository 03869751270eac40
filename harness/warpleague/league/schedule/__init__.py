"""Which matches a season has, and in which order."""
