"""Tables, live views, boards and replays in a terminal."""
