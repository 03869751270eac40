"""The machine's processes: how they are started, found and ended, and what the kernel counts of them."""
