"""Studies of one match or one bot: recorded matches put to a bot again, and played on from any position."""
