"""``python -m bagwise`` is the ``bagwise`` command."""

from bagwise._command import main

if __name__ == "__main__":
    main()
