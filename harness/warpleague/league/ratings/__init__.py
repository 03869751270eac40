"""How strong bots are: Elo match by match, fits of all results with their errors, and sequential tests."""
