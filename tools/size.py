"""Count the size of the source and hold it below the committed ceiling.

    tools/size            the table, and exit code 1 where a number is above its ceiling
    tools/size --lower    write today's numbers as the ceiling, where they are lower

Tokens are the NAME, OP, NUMBER and STRING of Python's `tokenize`, docstrings left out: dense lines win nothing.
"""

from __future__ import annotations

import ast
import json
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "actc"
CEILING = Path(__file__).with_name("size.json")
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}


def measure_file(path: Path) -> Counter[str]:
    """Count tokens, lines, functions and classes of a Python file."""
    text = path.read_text(encoding="utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    with path.open("rb") as file:
        tokens = sum(token.type in COUNTED for token in tokenize.tokenize(file.readline))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = sum(isinstance(node, documented) and ast.get_docstring(node) is not None for node in nodes)
    return Counter(
        tokens=tokens - docstrings,
        lines=text.count("\n"),
        functions=sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in nodes),
        classes=sum(isinstance(node, ast.ClassDef) for node in nodes),
        files=1,
    )


def measure_packages() -> dict[str, Counter[str]]:
    """Return the size of each entry of src/actc."""
    packages: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        packages.setdefault(path.relative_to(SOURCE).parts[0], Counter()).update(measure_file(path))
    return packages


def count_commands() -> dict[str, int]:
    """Count commands and their options, each option of each command by itself, and the public names."""
    import actc
    from actc.cli.main import commands

    parameters = [option for command in commands.commands.values() for option in command.params]
    options = sum(option.param_type_name == "option" for option in parameters)
    return {"commands": len(commands.commands), "options": options, "public names": len(actc.__all__)}


def count_words(paths: list[Path]) -> int:
    """Count the words of text files."""
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


def count_lines(paths: list[Path]) -> int:
    """Count the lines of text files."""
    return sum(path.read_text(encoding="utf-8").count("\n") for path in paths)


def measure_all(packages: dict[str, Counter[str]]) -> dict[str, int]:
    """Return every number that has a ceiling."""
    return {
        **sum(packages.values(), Counter()),
        "entries of src/actc": len([path for path in SOURCE.iterdir() if path.name != "__pycache__"]),
        **count_commands(),
        "lines of JavaScript": count_lines([path for path in SOURCE.rglob("*.js") if "vendor" not in path.parts]),
        "lines of tests": count_lines(list((ROOT / "tests").rglob("*.py"))),
        "words of docs": count_words(list((ROOT / "docs").rglob("*.md"))),
    }


def main() -> None:
    """Print the table; compare it with the ceiling, or lower the ceiling."""
    packages = measure_packages()
    columns = ["tokens", "lines", "functions", "classes", "files"]
    print(f"{'src/actc':<18}" + "".join(f"{name:>11}" for name in columns))
    for package, counts in packages.items():
        print(f"{package:<18}" + "".join(f"{counts[name]:>11,}" for name in columns))
    sizes = measure_all(packages)
    ceiling = json.loads(CEILING.read_text()) if CEILING.exists() else sizes
    print(f"\n{'':<22}{'now':>10}{'ceiling':>10}")
    for name, size in sizes.items():
        print(f"{name:<22}{size:>10,}{ceiling[name]:>10,}")
    if "--lower" in sys.argv:
        lowered = {name: min(size, ceiling[name]) for name, size in sizes.items()}
        CEILING.write_text(json.dumps(lowered, indent=2) + "\n")
    above = [name for name, size in sizes.items() if size > ceiling[name]]
    if above:
        sys.exit(f"Above the ceiling of tools/size.json: {', '.join(above)}. Make room elsewhere.")


if __name__ == "__main__":
    main()
