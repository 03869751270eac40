"""What leagues do not need. Each folder can be deleted, with its tests and its line in `warpleague.cli.commands`."""
