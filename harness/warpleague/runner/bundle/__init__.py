"""A bot before it runs: its manifest, its files, its build, and its copy in the cache."""
