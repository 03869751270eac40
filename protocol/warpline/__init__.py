"""The Python side of the Warp League wire: messages, framing, codec, and a client for bot authors.

Imports nothing, so that `warpline.client` runs on the standard library alone; leaves matches to the harness.
"""
