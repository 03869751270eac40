"""Whether this machine keeps what each level of confinement promises: tried, not inferred."""
