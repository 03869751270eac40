"""The tests of the bridges run where their packages are installed: `make test-bridges` has an environment for them."""

from importlib.util import find_spec

collect_ignore_glob = ["test_*.py"] if find_spec("pyspiel") is None or find_spec("pettingzoo") is None else []
