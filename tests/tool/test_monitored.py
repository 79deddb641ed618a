# SPDX-License-Identifier: GPL-2.0-only
"""The dashboard and the alerts of packaging/monitoring use metrics, labels and values that rpcrdma
prometheus writes, and the dashboard is one as Grafana reads it. tests/monitoring asks promtool."""
import json
import re

import pytest

from root import STATISTICS
from run import TOP

import blocks

_FOLDER = TOP / "packaging/monitoring"
_BOARD = json.loads((_FOLDER / "grafana.json").read_text("utf-8"))
_PANELS = _BOARD["panels"]
_ALERTS = (_FOLDER / "alerts.yml").read_text("utf-8")
# Prometheus adds the first two to each sample; node_exporter has the others.
_OTHERS = {"node_textfile_mtime_seconds": {"file"}}
_EVERYWHERE = {"instance", "job"}
_METRIC = re.compile(r"\b((?:rpcrdma|node)_[a-z_]+)(?:\{(.*?)\})?")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
_BY = re.compile(r"\b(?:by|without|on|ignoring) \(([^)]*)\)")
# What Grafana puts in place of a variable of the dashboard
_VARIABLES = {"$__rate_interval": "5m", "$instance": ".*", "$side": ".*"}


def _written():
    """Returns {metric: {label: values}}, of machines on which each thing has happened."""
    found = {}
    for line in (STATISTICS / "connections.prom").read_text("utf-8").splitlines():
        if match := re.match(r"(\w+)\{(.*)\} ", line):
            labels = found.setdefault(match[1], {})
            for name, value in re.findall(r'(\w+)="(.*?)"', match[2]):
                labels.setdefault(name, set()).add(value)
    found["rpcrdma_connections_ended_total"]["reason"] = set(re.findall(
        r"^ended_(\w+)", (TOP / "Documentation/statistics.rst").read_text("utf-8"), re.M))
    found["rpcrdma_calls_total"]["shape"] = set(blocks.SHAPES)
    return found


WRITTEN = _written()


def _expressions():
    """Yields (where, expression)."""
    for panel in _PANELS:
        for target in panel["targets"]:
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for name, text in re.findall(r"- alert: (\w+)\n(?: +#.*\n)* +expr: (.*)", _ALERTS):
        yield name, text


EXPRESSIONS = dict(_expressions())


def _takes(operator, wanted, values):
    """Returns those of @values that a matcher takes."""
    if operator in ("=", "!="):
        return {v for v in values if (v == wanted) == (operator == "=")}
    return {v for v in values if bool(re.fullmatch(wanted, v)) == (operator == "=~")}


def _value_faults(known, label, operator, wanted):
    for one in wanted.split("|") if "~" in operator else [wanted]:
        if not _takes(operator.replace("!", "=").replace("==", "="), one, known):
            yield f"{label} is never {one}"
    if not _takes(operator, wanted, known):
        yield f"{label}{operator}{wanted} takes nothing"


def _faults(text):
    for variable, value in _VARIABLES.items():
        text = text.replace(variable, value)
    found = _METRIC.findall(text)
    labels = set(_EVERYWHERE)
    if not found:
        yield "no metric"
    for metric, inside in found:
        known = _OTHERS.get(metric, set(WRITTEN.get(metric, {})))
        labels |= known
        if not known:
            yield f"nobody writes {metric}"
        for label, operator, wanted in _MATCHER.findall(inside):
            if label not in known | _EVERYWHERE:
                yield f"{metric} has no label {label}"
            elif metric in WRITTEN and label in known:
                yield from _value_faults(WRITTEN[metric][label], label, operator, wanted)
    for label in re.findall(r"\w+", ",".join(_BY.findall(text))):
        if label not in labels:
            yield f"nothing there has a label {label}"


@pytest.mark.parametrize("where", EXPRESSIONS)
def test_written(where):
    assert not list(_faults(EXPRESSIONS[where]))


@pytest.mark.parametrize("text, fault", (
    ("sum(rpcrdma_retries_total)", "nobody writes rpcrdma_retries_total"),
    ('rpcrdma_calls_total{kind="read"}', "rpcrdma_calls_total has no label kind"),
    ('rpcrdma_calls_total{shape=~"read|writ"}', "shape is never writ"),
    ('rpcrdma_calls_total{side!~"client|server"}', "side!~client|server takes nothing"),
    ("sum by (peer) (rpcrdma_calls_total)", "nothing there has a label peer"), ("1 > 2", "no metric")))
def test_noticed(text, fault):
    assert list(_faults(text)) == [fault]


def test_counters():
    """Each counter is shown by how much it grows, and only counters are."""
    for where, text in EXPRESSIONS.items():
        for metric, _ in _METRIC.findall(text):
            grows = bool(re.search(rf"(?:rate|increase)\({metric}\b", text)) or " offset " in text
            assert grows == bool(re.search("_(total|bucket)$", metric)), where


def test_alerts():
    """Each alert has a name, a severity and what to do; the page for administrators has each name."""
    page = (TOP / "Documentation/admin-monitoring.rst").read_text("utf-8")
    names = re.findall(r"- alert: (\w+)", _ALERTS)
    assert len(names) == len(set(names)) >= 5
    assert set(re.findall(r"``(Rpcrdma\w+)``", page)) == set(names)
    for what in "expr", "severity", "summary", "description":
        assert len(re.findall(rf"^ +{what}: .", _ALERTS, re.M)) == len(names)


def test_labels_of_texts():
    """Texts of alerts and legends name labels that the expression leaves."""
    for name, rest in re.findall(r"- alert: (\w+)((?:\n(?! +- alert).*)*)", _ALERTS):
        kept = {label for by in _BY.findall(EXPRESSIONS[name]) for label in re.split(", *", by)} or \
            {"instance", "file"}
        assert set(re.findall(r"\$labels\.(\w+)", rest)) <= kept, name
    for panel in _PANELS:
        for target in panel["targets"]:
            kept = set(re.findall(r"\w+", ",".join(_BY.findall(target["expr"])))) or {"instance"}
            assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= kept, panel["title"]


def test_board():
    """The dashboard has what Grafana needs to import it."""
    assert isinstance(_BOARD["schemaVersion"], int) and _BOARD["schemaVersion"] >= 30
    assert _BOARD["title"] and re.fullmatch(r"[\w-]{1,40}", _BOARD["uid"])
    variables = {one["name"]: one for one in _BOARD["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["query"] == "prometheus"
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)",
                                 variables["instance"]["query"]["query"]).groups()
    assert metric in WRITTEN and label in _EVERYWHERE
    assert set(variables["side"]["query"].split(",")) == WRITTEN["rpcrdma_connections"]["side"]
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(_PANELS)))
    assert used == set(variables)


def _cells(panel):
    place = panel["gridPos"]
    assert place["w"] > 0 and place["h"] > 0 and 0 <= place["x"] <= 24 - place["w"]
    return {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}


def test_panels():
    """Each panel has an id, a place, a unit and a description of its own, and asks the data source."""
    assert len({panel["id"] for panel in _PANELS}) == len(_PANELS) >= 10
    cells = [cell for panel in _PANELS for cell in _cells(panel)]
    assert len(cells) == len(set(cells)), "panels lie on each other"
    for panel in _PANELS:
        assert panel["type"] in ("stat", "timeseries")
        assert panel["title"] and panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0
        for asks in panel, *panel["targets"]:
            assert asks["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_all_shown():
    """The dashboard shows each metric of the totals."""
    shown = " ".join(text for where, text in EXPRESSIONS.items() if where not in _ALERTS)
    totals = set(re.findall(r"^# TYPE (\w+)", (STATISTICS / "totals.prom").read_text("utf-8"), re.M))
    assert not [name for name in totals if not re.search(rf"\b{name}(_bucket)?\b", shown)]
