# SPDX-License-Identifier: GPL-2.0-only
"""The command line of a program whose text at the top says all about it: --help prints that."""
import argparse


def parser(text):
    return argparse.ArgumentParser(description=text,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
