"""Fails to import a module before it says anything."""

import importlib


def misbehave(wire):
    importlib.import_module("surely_not_installed")
