"""The Python side of the Warp League wire: messages, framing, codec, and a client for bot authors.

This module imports nothing, so that `warpline.client` needs only the standard library.
"""
