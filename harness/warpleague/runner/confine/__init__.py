"""The means of confinement between a bot and the machine: sandbox, control groups, limits."""
