"""One running bot: its process, its clocks, its output, what it does out of turn, and its faults."""
