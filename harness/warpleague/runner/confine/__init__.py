"""What a level of confinement puts between a bot and the machine: sandbox, control groups, limits."""
