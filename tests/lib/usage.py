# SPDX-License-Identifier: GPL-2.0-only
"""Makes the command line of a program whose docstring is its manual: --help prints that text."""
import argparse


def parser(text):
    return argparse.ArgumentParser(description=text,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
