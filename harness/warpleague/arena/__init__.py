"""The network side of Warp League: a page to play on, leagues to watch, and bots to submit.

`web` is the server of pages that everybody may see; `scheduler` plays a league; `play` lets a person play on this
machine; `live` shows matches while they are played; `submissions` is about bots that authors send, and decisions of
organisers; `processes` has what all processes of an arena use. `live` and `play` know nothing of `submissions`.
"""
