// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace motion_watch {

/// The style sheet of the report. Colours are variables, set once for light and once for dark; the
/// classes p0 to p7 colour the partitions.
inline constexpr char kReportStyle[] = R"css(
:root{color-scheme:light dark;--paper:#f6f7f9;--card:#fff;--ink:#1b2330;--quiet:#667085;
--line:#e2e6ec;--bar:#2f8f9d;--mark:#c2570c;
--c0:#2f74d0;--c1:#c2760c;--c2:#1f8a5b;--c3:#8a4fc9;--c4:#c4405f;--c5:#0f8b9c;--c6:#7d7a1f;
--c7:#6b7280}
@media (prefers-color-scheme:dark){:root{--paper:#12151b;--card:#1a1f27;--ink:#e4e9f1;
--quiet:#93a0b4;--line:#2b323d;--bar:#45b3c2;--mark:#f0a04b;
--c0:#6aa5f5;--c1:#e8a845;--c2:#4fc690;--c3:#b98af0;--c4:#f0869e;--c5:#4cc4d4;--c6:#c3bf5a;
--c7:#a2acba}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:32px 24px 64px}
h1{font-size:26px;line-height:1.2;margin:0 0 4px}
h2{font-size:16px;margin:0 0 14px}
.lead{color:var(--quiet);margin:0 0 24px;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;
margin-bottom:20px}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:12px}
.tile{padding:14px 16px}
.tile b{display:block;font-size:23px;line-height:1.25;font-weight:650;
font-variant-numeric:tabular-nums}
.tile span{color:var(--quiet);font-size:13px}
section{padding:18px 20px;margin-bottom:20px}
.scroll{overflow-x:auto}
.sheet{display:block;width:100%;height:auto;border-radius:8px}
table{border-collapse:collapse;width:100%;font-size:14px}
th{text-align:left;color:var(--quiet);font-weight:600;font-size:12.5px}
th,td{padding:6px 14px 6px 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:anywhere}
tr:last-child td{border-bottom:0}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td:last-child,th:last-child{padding-right:0}
.quiet{color:var(--quiet)}
svg{display:block;width:100%;height:auto;font-family:inherit}
svg.plan{min-width:720px}
.p0{--c:var(--c0)}.p1{--c:var(--c1)}.p2{--c:var(--c2)}.p3{--c:var(--c3)}
.p4{--c:var(--c4)}.p5{--c:var(--c5)}.p6{--c:var(--c6)}.p7{--c:var(--c7)}
.endpoint{--c:var(--quiet)}
.node{fill:var(--c);fill-opacity:.13;stroke:var(--c);stroke-width:1.5}
.endpoint .node{stroke-dasharray:5 4;fill-opacity:.06}
.edge{fill:none;stroke:var(--quiet);stroke-width:1.4}
.edge.outside{stroke-dasharray:5 4}
.tip{fill:var(--quiet)}
svg text{fill:var(--ink);font-size:13px}
svg .name{text-anchor:middle;font-weight:600}
svg .detail{text-anchor:middle;fill:var(--quiet);font-size:12px}
svg .depth{text-anchor:middle;font-size:11.5px;paint-order:stroke;stroke:var(--card);
stroke-width:4px;
font-variant-numeric:tabular-nums}
svg .quiet,svg .axis{fill:var(--quiet);font-size:12px}
.bar{fill:var(--bar)}
.grid{stroke:var(--line);stroke-width:1}
.mark{stroke:var(--mark);stroke-width:1.5;stroke-dasharray:4 3}
svg .mark-name{fill:var(--mark);font-size:12px;font-weight:600;text-anchor:middle}
@media print{body{background:#fff}section,.tile{break-inside:avoid}}
)css";

}  // namespace motion_watch
