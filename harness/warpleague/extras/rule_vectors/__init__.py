"""Test vectors of the rules, for who writes them in another language."""
