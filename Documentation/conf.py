# SPDX-License-Identifier: GPL-2.0
"""The documents as HTML: `make doc`. They are plain reStructuredText, so that they can be read
as files and in manual pages, too. A document that is named as a literal becomes a link here."""
import re

from docutils import nodes
from sphinx import addnodes

project = "RPC-over-RDMA for Linux"
author = copyright = "The authors; GPL-2.0"  # pylint: disable=redefined-builtin
extensions = ["sphinx.ext.graphviz"]
master_doc = "index"
# Parts of reference.rst
exclude_patterns = ["reference/*.rst"]
graphviz_output_format = "svg"
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {
    "page_width": "76em", "sidebar_width": "15em", "body_max_width": "none", "fixed_sidebar": True,
    "font_family": "sans-serif", "font_size": "15px", "description": "",
}
html_show_sourcelink = False
html_copy_source = False

_NAME = re.compile(r"^(?:Documentation/)?([a-z/-]+)\.rst$")


def link_documents(app, doctree):
    """``tour.rst`` or ``upstream/index.rst`` as a literal leads there."""
    for literal in list(doctree.findall(nodes.literal)):
        match = _NAME.match(literal.astext())
        if not match or match[1] not in app.env.found_docs or match[1] == app.env.docname:
            continue
        link = addnodes.pending_xref("", refdomain="std", reftype="doc", refexplicit=True,
                                     reftarget=f"/{match[1]}", refdoc=app.env.docname)
        literal.replace_self(link)
        link += literal


def setup(app):
    app.connect("doctree-read", link_documents)
    return {"parallel_read_safe": True}
