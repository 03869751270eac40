"""What one match or one bot shows: recorded matches put to a bot again, and played on from any position."""
