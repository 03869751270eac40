"""Names of players in the texts of a game: as the pages put them there."""

from warpleague.games.scene import Panel, Scene
from warpleague.report.wording.match_words import SeatNames


def test_seats_get_the_names_of_their_players() -> None:
    """Wherever a text says a seat or an owner that there is; other numbers stay."""
    names = SeatNames(["Ada", "Ben"])
    assert names.say("seat 0 gives owner 1 a point; Seat 1 is out") == "Ada gives Ben a point; Ben is out"
    assert names.say("seat 2, seats 0, seat 10, aseat 0") == "seat 2, seats 0, seat 10, aseat 0"


def test_players_with_one_name_get_their_number() -> None:
    """Else nobody could tell them apart."""
    assert SeatNames(["Ada", "Ada"]).say("seat 0 and seat 1") == "Ada #0 and Ada #1"


def test_the_words_of_a_game_for_its_seats_stay_beside_the_names() -> None:
    """In the titles of panels only; a name that looks like a pattern is none."""
    names = SeatNames(["a\\1b", "Ben"], ["Reds", "Blues (old)"])
    scene = Scene("square", (), panels=(Panel("Blues (old)", ("seat 1",)),), caption="Reds begin")
    shown = names.on(scene)
    assert shown.caption == "a\\1b begin"
    assert shown.panels == (Panel("Ben (Blues (old))", ("Ben",)),)
