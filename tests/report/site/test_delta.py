"""Scenes told by their differences: exact, whatever changes."""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from warpleague.games.scene import Cell, Item, Link, Panel, Piece, Scene, Tray
from warpleague.report.site.delta import EMPTY, diff, patch, plain, splices

PLACES = st.sampled_from((0, 1, 1.5, -2))
TEXTS = st.sampled_from(("", "a", "b 1", "\x1b[2J", "\u202e</script>", "two\nlines"))
OWNERS = st.sampled_from((None, 0, 1))
KINDS = st.sampled_from(("blank", "wild", "odd kind"))
IDS = st.sampled_from(("", "a", "b-1"))
CELLS = st.builds(Cell, PLACES, PLACES, KINDS, TEXTS, OWNERS, IDS, IDS, TEXTS, st.sampled_from(("", "N SE")))
PIECES = st.builds(
    Piece,
    PLACES,
    PLACES,
    KINDS,
    TEXTS,
    OWNERS,
    st.sampled_from(("", "N")),
    IDS,
    IDS,
    TEXTS,
    st.integers(0, 3),
)
ITEMS = st.builds(Item, KINDS, TEXTS, IDS, IDS, st.booleans())
TRAYS = st.builds(
    Tray, TEXTS, st.lists(st.lists(ITEMS, max_size=3).map(tuple), max_size=2).map(tuple), OWNERS
)
SCENES = st.builds(
    Scene,
    st.sampled_from(("square", "hex")),
    st.lists(CELLS, max_size=6).map(tuple),
    st.lists(PIECES, max_size=4).map(tuple),
    st.lists(st.builds(Link, PLACES, PLACES, PLACES, PLACES, KINDS, OWNERS, IDS), max_size=4).map(tuple),
    st.lists(
        st.builds(Panel, TEXTS, st.lists(TEXTS, max_size=3).map(tuple), OWNERS, st.integers(0, 2)), max_size=3
    ).map(tuple),
    TEXTS,
    st.lists(TRAYS, max_size=2).map(tuple),
    st.lists(st.tuples(IDS, TEXTS), max_size=2).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(TEXTS, max_size=2).map(tuple),
    st.lists(st.sampled_from((0.0, 1.0, 2.5)), max_size=2).map(tuple),
    st.sampled_from(("points", "hits")),
    st.booleans(),
    OWNERS,
    st.lists(TEXTS, max_size=2).map(tuple),
)


@given(st.lists(SCENES, min_size=1, max_size=5))
def test_a_chain_of_deltas_gives_every_scene(scenes: list[Scene]) -> None:
    """From nothing on, each delta makes exactly the next scene of the one before, which stays as it is."""
    shown, before = EMPTY, None
    for scene in scenes:
        kept = repr(shown)
        after = patch(shown, diff(before, scene))
        assert after == plain(scene)
        assert repr(shown) == kept
        shown, before = after, scene


@given(SCENES)
def test_no_change_is_no_delta(scene: Scene) -> None:
    """A scene differs in nothing from itself."""
    assert diff(scene, scene) == {}


@given(SCENES)
def test_the_plain_form_holds_nothing_that_steers(scene: Scene) -> None:
    """No text of a scene's plain form has a control character, or one that turns the order of letters round."""

    def texts(value: object) -> list[str]:
        if isinstance(value, str):
            return [value]
        if isinstance(value, dict):
            value = list(value.values())
        return [text for item in value for text in texts(item)] if isinstance(value, list) else []

    assert all(text.isprintable() for text in texts(plain(scene)))


def test_a_cell_that_changes_costs_one_splice() -> None:
    """What changes in place, and what comes or goes in the middle, is told alone."""
    assert splices("abcd", "abXd", str) == [[2, 1, "X"]]
    assert splices("abcd", "XbcY", str) == [[0, 1, "X"], [3, 1, "Y"]]
    assert splices("abcd", "abXcd", str) == [[2, 0, "X"]]
    assert splices("abcd", "ad", str) == [[1, 2]]
    assert splices("aa", "aaa", str) == [[2, 0, "a"]]


@given(SCENES, SCENES, SCENES, SCENES)
def test_a_step_that_another_viewer_sees_too_may_be_told_from_there(
    old: Scene, new: Scene, other_old: Scene, other_new: Scene
) -> None:
    """The delta is the same whether it is made anew or, where two viewers see alike, taken from the other's."""
    mixed_old = attrs.evolve(old, pieces=other_old.pieces, panels=other_old.panels, focus=other_old.focus)
    mixed_new = attrs.evolve(new, pieces=other_new.pieces, panels=other_new.panels, focus=other_new.focus)
    like = (other_old, other_new, diff(other_old, other_new))
    assert list(diff(mixed_old, mixed_new, like).items()) == list(diff(mixed_old, mixed_new).items())
    assert diff(None, mixed_new, (None, other_new, diff(None, other_new))) == diff(None, mixed_new)
