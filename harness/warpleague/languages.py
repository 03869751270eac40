"""The programming languages that bots are written in: the starter in each, and the programs that build and run it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_VERSION: Final = "0123456789.-"


class Language(NamedTuple):
    """A language, by its `word` on the command line and its name.

    `tools` are the programs that the starter needs, each with the argument that prints its version, and `others` more
    programs by which a bot in this language is known. `scripts` says how the files end that an interpreter is given
    to run; its name is without a version. `etc` is what the programs read in /etc, where `*` stands for anything.
    """

    word: str
    name: str
    starter: str
    tools: Mapping[str, str] = {}
    others: tuple[str, ...] = ()
    scripts: Mapping[str, tuple[str, ...]] = {}
    etc: tuple[str, ...] = ()


LANGUAGES: Final = (
    Language("python", "Python", "random-python", others=("python3",), scripts={"python": (".py", ".pyz")}),
    Language(
        "js", "JavaScript", "random-js", {"node": "--version"}, scripts={"node": (".js", ".mjs", ".cjs")}
    ),
    Language("c", "C", "random-c", {"cc": "--version"}, others=("gcc", "clang")),
    Language("rust", "Rust", "random-rust", {"rustc": "--version"}, others=("cargo",)),
    Language("perl", "Perl", "random-perl", {"perl": "--version"}, scripts={"perl": (".pl",)}, etc=("perl",)),
    Language(
        "java",
        "Java",
        "random-java",
        {"javac": "-version", "java": "-version"},
        scripts={"java": (".jar", ".java")},
        etc=("java*", "jvm*"),
    ),
    Language(
        "csharp",
        "C#",
        "random-csharp",
        {"mcs": "--version", "mono": "--version"},
        others=("csc", "dotnet"),
        scripts={"mono": (".exe",)},
        etc=("dotnet", "mono"),
    ),
    Language("nim", "Nim", "random-nim", {"nim": "--version"}, etc=("nim",)),
    Language("go", "Go", "random-go", {"go": "version"}),
    Language("cpp", "C++", "random-cpp", {"c++": "--version"}, others=("g++", "clang++")),
    Language("ruby", "Ruby", "random-ruby", {"ruby": "--version"}, scripts={"ruby": (".rb",)}),
    Language("lua", "Lua", "random-lua", {"lua5.4": "-v"}, others=("luajit",), scripts={"lua": (".lua",)}),
    Language("ts", "TypeScript", "random-ts", {"tsc": "--version"}),
    Language("php", "PHP", "random-php", {"php": "--version"}, scripts={"php": (".php",)}, etc=("php*",)),
    Language(
        "ocaml",
        "OCaml",
        "random-ocaml",
        {"ocamlopt": "-version"},
        others=("ocaml", "ocamlfind"),
        etc=("ocaml*",),
    ),
)


def without_version(program: str) -> str:
    """The name of a program without the version at its end, such as `lua` for `lua5.4`."""
    return program.rstrip(_VERSION)


PROGRAMS: Final = {
    program: language for language in LANGUAGES for program in (*language.tools, *language.others)
}
"""The language that each program builds or runs."""
SCRIPTS: Final = {
    interpreter: endings for language in LANGUAGES for interpreter, endings in language.scripts.items()
}
"""How the files end that interpreters are given to run; their names are without a version."""

_BY_NAME: Final = {without_version(program): language for program, language in PROGRAMS.items()}


def of_program(command: str) -> Language | None:
    """The language of bots that this program builds or runs, whatever its folder and version; None if unknown."""
    return _BY_NAME.get(without_version(command.rpartition("/")[2].lower()))
