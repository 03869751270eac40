"""Tests whether this machine keeps what each level of confinement promises."""
