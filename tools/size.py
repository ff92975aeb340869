"""Count the size of the source and hold it below the committed ceiling.

    tools/size            the table, and exit code 1 where a number is above its ceiling
    tools/size --lower    write today's numbers as the ceiling, where they are lower

Tokens are the NAME, OP, NUMBER and STRING of Python's `tokenize`, docstrings left out: dense lines win nothing. Words
to avoid are counted wherever a reader meets them: in names, comments and texts of Python, JavaScript and pages.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "actc"
CEILING = Path(__file__).with_name("size.json")
COUNTED = {tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MOST_LINES, MOST_PARAMETERS = 60, 8
WORDS = (
    *("told", "tell", "said", "says", "held", "asked", "found", "learnt", "taught"),
    *("heeded", "sought", "doubted", "promise", "demand", "vouch", "listed", "carried", "ready"),
    *("opened", "desk", "kept", "standing", "wish", "whoever", "chance"),
)
TEXTS = (".py", ".js", ".html", ".jinja", ".md", ".css", ".svg")


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


def count_code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function but for its docstring."""
    documented = ast.get_docstring(node) is not None
    return node.end_lineno - node.lineno + 1 - documented * (node.body[0].end_lineno - node.body[0].lineno + 1)


def count_parameters(arguments: ast.arguments) -> int:
    """Count the parameters of a function but for ``self`` and ``cls``."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return sum(one is not None and one.arg not in ("self", "cls") for one in every)


def find_faults(paths: list[Path]) -> dict[str, list[str]]:
    """Name the functions and classes that break a rule, by rule; a public function may have as many parameters."""
    import actc

    long, wide = [], []
    classes: dict[str, list[str]] = {}
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, []).append(path.name)
            if not isinstance(node, FUNCTIONS):
                continue
            place = f"{path.name}:{node.lineno} {node.name}"
            lines, parameters = count_code_lines(node), count_parameters(node.args)
            if lines > MOST_LINES:
                long.append(f"{place}: {lines}")
            if parameters > MOST_PARAMETERS and node.name not in actc.__all__:
                wide.append(f"{place}: {parameters}")
    twice = [f"{name}: {', '.join(files)}" for name, files in classes.items() if len(files) > 1]
    return {
        f"functions above {MOST_LINES} lines": long,
        f"above {MOST_PARAMETERS} parameters": wide,
        "class names used twice": twice,
    }


def count_private_words(paths: list[Path]) -> dict[str, int]:
    """Count each word to avoid, as a whole word or as one part of a name such as ``held_rows``."""
    pattern = re.compile(f"(?<![a-z])(?:{'|'.join(WORDS)})(?![a-z])", re.IGNORECASE)
    counts = Counter(word.lower() for path in paths for word in pattern.findall(path.read_text(encoding="utf-8")))
    return {f'word "{word}"': counts[word] for word in WORDS}


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


def measure_all(packages: dict[str, Counter[str]], faults: dict[str, list[str]]) -> dict[str, int]:
    """Return every number that has a ceiling."""
    texts = [path for path in SOURCE.rglob("*") if path.suffix in TEXTS and "vendor" not in path.parts]
    return {
        **sum(packages.values(), Counter()),
        "entries of src/actc": len([path for path in SOURCE.iterdir() if path.name != "__pycache__"]),
        **count_commands(),
        "lines of JavaScript": count_lines([path for path in SOURCE.rglob("*.js") if "vendor" not in path.parts]),
        "lines of tests": count_lines(list((ROOT / "tests").rglob("*.py"))),
        "words of docs": count_words(list((ROOT / "docs").rglob("*.md"))),
        **{rule: len(places) for rule, places in faults.items()},
        **count_private_words(texts),
    }


def main() -> None:
    """Print the table; compare it with the ceiling, or lower the ceiling."""
    packages = measure_packages()
    columns = ["tokens", "lines", "functions", "classes", "files"]
    print(f"{'src/actc':<18}" + "".join(f"{name:>11}" for name in columns))
    for package, counts in packages.items():
        print(f"{package:<18}" + "".join(f"{counts[name]:>11,}" for name in columns))
    faults = find_faults(sorted(SOURCE.rglob("*.py")))
    for rule, places in faults.items():
        print("\n  ".join([f"\n{rule}:", *(places or ["none"])]))
    sizes = measure_all(packages, faults)
    ceiling = json.loads(CEILING.read_text()) if CEILING.exists() else sizes
    print(f"\n{'':<26}{'now':>10}{'ceiling':>10}")
    for name, size in sizes.items():
        print(f"{name:<26}{size:>10,}{ceiling.get(name, size):>10,}")
    if "--lower" in sys.argv:
        lowered = {name: min(size, ceiling.get(name, size)) for name, size in sizes.items()}
        CEILING.write_text(json.dumps(lowered, indent=2) + "\n")
    above = [name for name, size in sizes.items() if size > ceiling.get(name, size)]
    if above:
        sys.exit(f"Above the ceiling of tools/size.json: {', '.join(above)}. Make room elsewhere.")


if __name__ == "__main__":
    main()
