"""What can be read of a page by everybody: its colours stand out, in light and in dark."""

import re
from itertools import product

import pytest

from warpleague.report.site.page_frame import SCRIPTS, STYLES, asset

READABLE = 4.5  # WCAG 2.2, 1.4.3
SEATS = tuple(f"seat-{seat}" for seat in range(10))
PAIRS = (
    *product(("ink", "soft", "accent", "bad", "good"), ("paper", "card")),
    *product(("ink", "soft"), ("sunken",)),
    *product(("ink",), ("mark", "bad-card")),
    ("bad", "bad-card"),
    *product(SEATS, ("paper", "card")),  # names of bots, and labels in the colour of the card on pieces
)


SHEETS = sorted({name for sheets in STYLES.values() for name in sheets} - {"variables.css"})
OWN_SIZES = {
    "colour": r"#[0-9a-fA-F]{3,8}\b(?=[^{}]*;)",
    "size of type": r"(?:font-size|font): [\d.]+rem",
    "spacing": r"(?<![\w-])(?:gap|margin(?:-[a-z]+)*|padding(?:-[a-z]+)*): [^;{}]*(?<![\w.])0?\.?[0-3][\d.]*rem",
    "corner": r"border-radius: \d",
}


def schemes() -> dict[str, dict[str, str]]:
    """The colours by scheme and name."""
    light, dark = re.findall(r":root \{(.*?)\}", asset("variables.css"), re.DOTALL)[:2]
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in (light, dark)]
    return {"light": found[0], "dark": found[0] | found[1]}


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb`, from 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(scheme: str) -> None:
    """All text is readable on what it is written on, the names of bots in the colours of their seats too."""
    colours = schemes()[scheme]
    faint = {
        f"{one} on {other}": round(found, 2)
        for one, other in PAIRS
        if (found := contrast(colours[one], colours[other])) < READABLE
    }
    assert faint == {}


def test_both_schemes_have_all_colours_of_seats() -> None:
    """No seat keeps its light colour in the dark, and no two seats share one."""
    found = schemes()
    for seat in SEATS:
        assert found["light"][seat] != found["dark"][seat]
    assert all(len({colours[seat] for seat in SEATS}) == 10 for colours in found.values())


@pytest.mark.parametrize("sheet", SHEETS)
def test_colours_and_sizes_come_from_the_one_file_of_variables(sheet: str) -> None:
    """Only `variables.css` names colours, sizes of type, spacings and corners; the other style sheets use those."""
    text = re.sub(r"/\*.*?\*/", "", asset(sheet), flags=re.DOTALL)
    own = {what: found for what, pattern in OWN_SIZES.items() if (found := re.findall(pattern, text))}
    assert own == {}


def test_every_variable_of_a_style_sheet_exists() -> None:
    """No style sheet uses a variable that nobody sets, and no variable of the common file is unused."""
    text = "".join(map(asset, [*SHEETS, "variables.css"]))
    scripts = "".join(asset(name) for names in SCRIPTS.values() for name in names)
    needed = set(re.findall(r"var\(--([\w-]+)", text)) | set(re.findall(r"\[?\"?--([\w-]+)", scripts))
    made = set(re.findall(r"--([\w-]+):", text)) | set(re.findall(r"--([\w-]+)", scripts))
    assert needed - made == set()
    assert set(re.findall(r"--([\w-]+):", asset("variables.css"))) - needed == set()
