"""The ``bagwise`` command of the wheel: the same Rust code as the program."""

from __future__ import annotations

import sys

from bagwise import _native


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(_native.main(["bagwise", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
