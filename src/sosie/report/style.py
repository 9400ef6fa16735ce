"""The style sheet of the report: light and dark by what the reader's system prefers, narrow screens, print."""

STYLE = """
:root { color-scheme: light dark; --page: #f6f6f3; --card: #ffffff; --ink: #1d1f21; --soft: #62666b;
  --line: #e1e1dc; --bar: #2c7399; --bar-whole: #1b4d69; --drop: #d9822b; --reject: #a33a3a;
  --left: #ffe7ba; --left-line: #c27a10; --right: #cfe6fb; --right-line: #2c7399;
  --alarm: #fff4dc; --alarm-line: #d9a02b; }
@media (prefers-color-scheme: dark) {
  :root { --page: #141618; --card: #1d2023; --ink: #e7e7e3; --soft: #9ea4aa; --line: #34393e; --bar: #5aa9d2;
    --bar-whole: #a5d5ee; --drop: #e39a4c; --reject: #d87070; --left: #553f10; --left-line: #e0a43a;
    --right: #17435f; --right-line: #5aa9d2; --alarm: #33290f; --alarm-line: #b98a26; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; font-size: 16px; }
main { max-width: 1120px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 1.2rem; margin: 0 0 8px; }
h3 { font-size: 1rem; margin: 22px 0 6px; }
h4 { font-size: .85rem; font-weight: 600; margin: 0 0 6px; color: var(--soft); overflow-wrap: anywhere; }
p { margin: 0 0 10px; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .88em; }
a { color: var(--bar); }
nav { margin: 16px 0 20px; font-size: .92rem; display: flex; flex-wrap: wrap; gap: 4px 18px; }
main > section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 20px 22px;
  margin-bottom: 18px; }
.lead, .note, .soft, figcaption { color: var(--soft); }
.note { font-size: .88rem; margin: 8px 0; }
.tiles { display: grid; grid-template-columns: repeat(4, 1fr); gap: 10px; margin: 14px 0 0; padding: 0; }
.tiles div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 10px 14px; }
.tiles dt { color: var(--soft); font-size: .82rem; }
.tiles dd { margin: 0; font-size: 1.3rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.tiles small { display: block; font-size: .78rem; font-weight: 400; color: var(--soft); line-height: 1.35; }
.proportion { display: block; width: 100%; height: 14px; border-radius: 7px; margin: 14px 0 6px;
  background: var(--line); }
.proportion .kept, .key.kept { fill: var(--bar); background: var(--bar); }
.proportion .dropped, .key.dropped { fill: var(--drop); background: var(--drop); }
.proportion .rejected, .key.rejected { fill: var(--reject); background: var(--reject); }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin: 0 6px 0 0; }
.legend span + .key { margin-left: 16px; }
.legend { font-size: .88rem; color: var(--soft); }
#warnings.some { background: var(--alarm); border-color: var(--alarm-line); }
#warnings ul { margin: 0; padding-left: 20px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 28px; }
figure { margin: 0; }
figcaption { font-size: .88rem; margin-bottom: 10px; }
figcaption b { color: var(--ink); font-size: .95rem; }
.chart { display: block; width: 100%; max-width: 520px; height: auto; font-size: 13px; }
.chart text { fill: var(--ink); font-variant-numeric: tabular-nums; }
.chart .label, .chart .axis { fill: var(--soft); }
.chart .bar { fill: var(--bar); }
.chart .whole { fill: var(--bar-whole); }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; }
th, td { text-align: left; padding: 5px 18px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
th { font-weight: 600; color: var(--soft); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.wide { width: 260px; vertical-align: middle; }
summary { cursor: pointer; padding: 6px 0; overflow-wrap: anywhere; }
summary b { font-variant-numeric: tabular-nums; margin-right: 6px; }
summary .soft { font-size: .88rem; margin-left: 6px; }
details.pair { border-top: 1px solid var(--line); padding: 4px 0; }
details.cluster { border: 1px solid var(--line); border-radius: 8px; padding: 4px 14px; margin: 10px 0; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 14px; margin: 6px 0 14px; }
.side { min-width: 0; border: 1px solid var(--line); border-radius: 6px; padding: 10px 14px; background: var(--page); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font-size: .95rem; unicode-bidi: isolate; }
mark { color: inherit; border-radius: 3px; padding: 0 2px; box-decoration-break: clone;
  -webkit-box-decoration-break: clone; }
.left mark, mark.left { background: var(--left); border-bottom: 2px solid var(--left-line); }
.right mark, mark.right { background: var(--right); border-bottom: 2px solid var(--right-line); }
.respelt { text-decoration: underline dotted var(--soft); text-underline-offset: 3px; }
.rest, .gap { color: var(--soft); }
.gap { font-size: .85em; }
footer { color: var(--soft); font-size: .88rem; }
@media (max-width: 640px) { .sides { grid-template-columns: 1fr; } .tiles { grid-template-columns: 1fr 1fr; }
  main > section { padding: 16px 14px; } }
@media print { body { background: none; } main > section { break-inside: auto; } nav { display: none; } }
""".strip()

# What the page of links has beside: words that translate each other are marked on both sides, in one colour.
LINKS = """
:root { --both: #d3eed9; --both-line: #2e8b57; }
@media (prefers-color-scheme: dark) { :root { --both: #17452b; --both-line: #58b981; } }
mark { background: var(--both); border-bottom: 2px solid var(--both-line); }
.chart .threshold { stroke: var(--drop); stroke-width: 2; stroke-dasharray: 5 4; }
td.long { max-width: 640px; }
.scroll th.number { white-space: normal; overflow-wrap: normal; }
summary code, h4 code, td code { word-break: break-all; }
@media print { details.pair { break-inside: avoid; } mark { print-color-adjust: exact;
  -webkit-print-color-adjust: exact; } }
"""

# What the page on thresholds has beside: the valley as a band, and the threshold that is proposed.
THRESHOLD = """
.chart .threshold { stroke: var(--drop); stroke-width: 2; stroke-dasharray: 5 4; }
.chart .valley { fill: var(--line); }
tr.chosen td { font-weight: 600; border-bottom-color: var(--drop); }
.cluster h4 { margin-top: 10px; }
summary code, h4 code { word-break: break-all; }
#command .text { background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: 10px 14px; }
@media print { mark { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
