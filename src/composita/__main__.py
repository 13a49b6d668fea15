"""Run the command line with ``python -m composita``."""

from composita.cli.main import run

if __name__ == "__main__":
    run()
