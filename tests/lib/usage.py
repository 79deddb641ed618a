# SPDX-License-Identifier: GPL-2.0-only
"""Makes the command line of a program whose docstring is its manual: --help prints that text. Checks arguments."""
import argparse
import pathlib


def parser(text):
    return argparse.ArgumentParser(description=text,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def file(text):
    """A type of an argument: the path of a file that exists."""
    path = pathlib.Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return path
