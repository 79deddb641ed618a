# SPDX-License-Identifier: GPL-2.0-only
"""The documents as HTML: `make doc`. They are plain reStructuredText, so that they can be read
as files and in manual pages, too. A document that is named as a literal becomes a link here."""
import re

from docutils import nodes
from sphinx import addnodes

project = "RPC-over-RDMA for Linux"
author = copyright = "The rpcrdma-oot project; GPL-2.0-only"  # pylint: disable=redefined-builtin
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
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_show_sourcelink = False
html_copy_source = False

_NAME = re.compile(r"(?:Documentation/)?\b([a-z][a-z/-]*)\.rst\b")


def _known(app, match):
    return match[1] in app.env.found_docs and match[1] != app.env.docname


def _link(app, match):
    node = addnodes.pending_xref(match[0], refdomain="std", reftype="doc", refexplicit=False,
                                 reftarget=f"/{match[1]}", refdoc=app.env.docname)
    node += nodes.inline(match[0], match[0])
    return node


def _pieces(app, text):
    """@text as nodes, with a link for each document that it names"""
    end = 0
    for match in _NAME.finditer(text):
        if _known(app, match):
            yield nodes.Text(text[end:match.start()])
            yield _link(app, match)
            end = match.end()
    yield nodes.Text(text[end:])


def link_documents(app, doctree):
    """tour.rst or ``upstream/index.rst`` in a text leads there, and has the title of the page."""
    for literal in list(doctree.findall(nodes.literal)):
        match = _NAME.fullmatch(literal.astext())
        if match and _known(app, match):
            literal.replace_self(_link(app, match))
    for link in doctree.findall(nodes.reference):
        if re.fullmatch(r"[a-z0-9-]+\.rst", link.get("refuri", "")):
            link["refuri"] = link["refuri"].removesuffix("rst") + "html"
    closed = (nodes.literal, nodes.literal_block, nodes.reference, nodes.title, nodes.raw,
              addnodes.pending_xref, nodes.Inline)
    for text in list(doctree.findall(nodes.Text)):
        if ".rst" in text and not isinstance(text.parent, closed):
            text.parent.replace(text, list(_pieces(app, text.astext())))


def setup(app):
    app.connect("doctree-read", link_documents)
    return {"parallel_read_safe": True}
