"""The pool of referee processes: it starts them, hands out calls, and returns what they answer."""
