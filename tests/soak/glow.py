"""Finds what glows on a page as a person does: in its picture.

Two pictures are compared: one without the outlines that glow, and one in which what they enclose is filled, as the eye
fills it. What the page says of itself decides nothing.
"""

import base64
from typing import Any

_SHOW = """(how) => document.querySelectorAll('.halo:is(.hot, .maybe)').forEach((halo) => {
    halo.style.visibility = how;
    if (halo.matches('.edge')) return;
    halo.style.fill = how === 'visible' ? 'rgb(0 255 0 / 40%)' : '';
    halo.style.strokeOpacity = how === 'visible' ? 1 : ''; // else outlines that touch would not part what they enclose
})"""
_PATCHES = """async (pictures) => {
    const [lit, unlit] = await Promise.all(pictures.map(async (picture) => {
        const bytes = Uint8Array.from(atob(picture), (one) => one.charCodeAt(0));
        const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
        pen.drawImage(image, 0, 0);
        return pen.getImageData(0, 0, image.width, image.height);
    }));
    const { width } = lit;
    const edge = getComputedStyle(document.querySelector('.halo')).stroke.match(/\\d+/g)?.map(Number);
    const depth = new Int32Array(width * lit.height);
    const least = (at, sign) => Math.min(...[1, width - 1, width, width + 1].map((n) => depth[at - sign * n] ?? 0));
    depth.forEach((_, at) => {
        const far = (other) => Math.max(...[0, 1, 2].map((one) => Math.abs(lit.data[at * 4 + one] - other(one))));
        if (far((one) => unlit.data[at * 4 + one]) > 8 && far((one) => edge[one]) > 8) depth[at] = least(at, 1) + 1;
    });
    for (let at = depth.length - 1; at >= 0; at -= 1) depth[at] = Math.min(depth[at], least(at, -1) + 1);
    const inner = [...depth.keys()].filter((at) => depth[at] > 3).sort((one, other) => depth[other] - depth[one]);
    const found = [];
    for (const at of inner) {
        const [x, y, far] = [at % width, Math.floor(at / width), 2 * depth[at] + 4];
        if (found.every((other) => Math.max(Math.abs(other[0] - x), Math.abs(other[1] - y)) > far)) found.push([x, y]);
    }
    return found;
}"""
"""The middles of patches in which two pictures differ, each within the edge that the glow draws."""


def glowing(page: Any) -> list[tuple[int, int]]:
    """The middle of each patch that glows, where a click would be made: in what is in view, else farther down."""
    # What an entry of the list touches glows as well, while it has the pointer or the focus.
    page.mouse.move(0, 0)
    page.evaluate("() => document.activeElement.blur()")
    page.evaluate("() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))")
    if not page.query_selector(".halo"):
        return []  # what differs then is only what moves
    high, whole = page.evaluate("() => [innerHeight, document.documentElement.scrollHeight]")
    for top in (None, *range(0, whole, high * 2 // 3)):
        if top is not None:
            page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", top)
        pictures = []
        for how in ("visible", "hidden"):
            page.evaluate(_SHOW, how)
            pictures.append(base64.b64encode(page.screenshot(caret="initial")).decode())
        page.evaluate(_SHOW, "")
        if found := page.evaluate(_PATCHES, pictures):
            return [(x, y) for x, y in found]
    return []
