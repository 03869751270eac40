"""What leagues do not need. Each folder can be deleted, with its commands and tests: only `cli` imports them."""
