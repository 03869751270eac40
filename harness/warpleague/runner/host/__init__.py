"""The machine's processes: starts, lists and ends them, and reads the kernel's counters of them."""
