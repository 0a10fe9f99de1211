/**
 * Light and dark as the system, with one accent. Figures are tabular. A phone gets cards instead of tables; print has
 * only the content.
 */
export const style = `
:root {
  --paper: #fff; --ground: #f6f6f4; --line: #e3e3df; --strong: #c9c9c3;
  --ink: #1d1e22; --soft: #5d6068;
  --accent: #2f5bd3; --on-accent: #fff; --accent-soft: #e9eefb;
  --good: #0b7a4b; --bad: #b3261e; --bad-soft: #fbeceb; --good-soft: #e7f4ee; --wait: #6a6d75; --doubt: #8a5a00;
  --bar-wait: #b9bcc4;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --paper: #1b1c20; --ground: #131417; --line: #2c2e34; --strong: #464952;
    --ink: #ececee; --soft: #a3a6af;
    --accent: #8aa8ff; --on-accent: #10142a; --accent-soft: #232b45;
    --good: #5cc794; --bad: #ff8f86; --bad-soft: #3a1f1e; --good-soft: #16302a; --wait: #a3a6af; --doubt: #e3b35a;
    --bar-wait: #5f636d;
  }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; display: grid; grid-template-columns: 13rem minmax(0, 1fr);
  background: var(--ground); color: var(--ink);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Open Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
body.alone { grid-template-columns: minmax(0, 1fr); }
h1 { font-size: 1.375rem; line-height: 1.3; font-weight: 650; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: .9375rem; font-weight: 650; margin: 0; }
h3 { font-size: .8125rem; font-weight: 550; color: var(--soft); margin: 1rem 0 .25rem; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); text-underline-offset: 2px; }
code, pre { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
small, .hint { font-size: .8125rem; color: var(--soft); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; background: var(--paper); padding: .5rem 1rem; }
.side { padding: 1.125rem .75rem; position: sticky; top: 0; align-self: start; min-height: 100vh; }
.brand { display: flex; align-items: center; gap: .5rem; padding: 0 .5rem; margin-bottom: 1.25rem; color: inherit; text-decoration: none; }
.brand img { width: 1.375rem; }
.brand b { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.side nav { display: flex; flex-direction: column; gap: 1px; }
.side nav a { padding: .3125rem .625rem; border-radius: 6px; color: var(--soft); text-decoration: none; }
.side nav a:hover { color: var(--ink); background: var(--line); }
.side nav a[aria-current] { color: var(--ink); background: var(--accent-soft); font-weight: 600; box-shadow: inset 2px 0 var(--accent); }
.page { border-left: 1px solid var(--line); padding: 1.25rem 2rem 1rem; max-width: 74rem; width: 100%; display: flex; flex-direction: column; min-height: 100vh; }
.page main { flex: 1; }
.title { display: flex; align-items: center; gap: .75rem; margin-bottom: 1rem; }
.live { margin: 0; font-size: .8125rem; color: var(--good); display: flex; align-items: center; gap: .375rem; }
.live[hidden] { display: none; }
.live::before { content: ""; width: .5rem; height: .5rem; border-radius: 50%; background: currentColor; }
.live.off { color: var(--soft); }
.live.off::before { background: none; border: 1.5px solid currentColor; }
footer { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.25rem; margin-top: 2rem; padding-top: .75rem; border-top: 1px solid var(--line); font-size: .8125rem; color: var(--soft); }
footer p { margin: 0 auto 0 0; }
footer button { border: 0; background: none; padding: .25rem; font-size: inherit; color: var(--soft); text-decoration: underline; text-underline-offset: 2px; }
footer button[aria-pressed="true"] { text-decoration: none; color: var(--ink); font-weight: 600; }
.panel, .notice, .figures > div { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
.panel { padding: .875rem 1rem 1rem; margin-bottom: 1rem; }
.panel > header { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; margin-bottom: .5rem; }
.panel > header a { font-size: .8125rem; } .panel > header a + a { margin-left: 1rem; }
.panel > :last-child { margin-bottom: 0; }
.columns { display: grid; grid-template-columns: minmax(0, 5fr) minmax(0, 3fr); gap: 0 1rem; align-items: start; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1rem; margin: 0 0 1rem; }
.figures > div { padding: .75rem 1rem .8125rem; }
.figures dt { font-size: .8125rem; color: var(--soft); }
.figures dd { margin: 0; }
.figures b { display: block; font-size: 1.75rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; }
.figures .bad b { color: var(--bad); }
.figures small { display: block; min-height: 1.25em; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 500; font-size: .8125rem; color: var(--soft); padding: .25rem .75rem .375rem 0; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: .375rem .75rem .375rem 0; border-bottom: 1px solid var(--line); vertical-align: middle; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
th.number, td.number { text-align: right; white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
td.main a { font-weight: 550; color: var(--ink); text-decoration-color: var(--strong); }
td.main a:hover { color: var(--accent); }
td:not(.main) time { color: var(--soft); }
.status { display: inline-flex; align-items: center; vertical-align: bottom; gap: .3125rem; white-space: nowrap; }
.status svg { width: 1em; height: 1em; margin-bottom: -1px; flex: none; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
#done path:first-child { fill: currentColor; }
#done .sign { stroke: var(--paper); }
.good, .done { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); } .doubt { color: var(--doubt); }
.figures .bad { color: inherit; }
.state { font-size: 1rem; margin-bottom: 1rem; }
.state .status { font-weight: 650; margin-right: .375rem; }
.notice { padding: .625rem 1rem; margin-bottom: 1rem; color: var(--ink); }
.notice.good { border-color: var(--good); background: var(--good-soft); }
.notice.bad { border-color: var(--bad); background: var(--bad-soft); }
.notice p { margin: .5rem 0 .25rem; }
.secret { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.secret code { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .375rem .625rem; user-select: all; }
.empty { color: var(--soft); margin: .5rem 0 1rem; } .empty code { display: block; }
.facts, .carriers { margin: 0; }
.facts > div { display: grid; grid-template-columns: 8rem minmax(0, 1fr); gap: .75rem; padding: .25rem 0; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
.carriers > div { display: grid; gap: .5rem; grid-template-columns: minmax(4rem, auto) minmax(0, 1fr); padding: .1875rem 0; }
.carriers dt { font-weight: 550; } .carriers dd { grid-column: 2; margin: 0; color: var(--soft); }
.chart { margin: 0; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; margin: 0 0 .5rem; padding: 0; font-size: .8125rem; color: var(--soft); }
.legend li::before { content: ""; display: inline-block; width: .625rem; height: .625rem; border-radius: 2px; margin-right: .375rem; background: var(--accent); }
.legend li.failed::before { background: var(--bad); } .legend li.queued::before { background: var(--bar-wait); }
.legend li.unknown::before { background: var(--doubt); }
.legend b { color: var(--ink); font-weight: 600; }
.plot { position: relative; border-top: 1px dashed var(--line); border-bottom: 1px solid var(--strong); }
.plot svg { display: block; width: 100%; height: 10.5rem; }
.scale { position: absolute; top: .125rem; left: 0; font-size: .75rem; color: var(--soft); background: var(--paper); padding-right: .25rem; }
rect.slot { fill: transparent; } g:hover rect.slot { fill: var(--line); }
rect.sent { fill: var(--accent); } rect.failed { fill: var(--bad); } rect.queued { fill: var(--bar-wait); } rect.unknown { fill: var(--doubt); }
.hours { display: flex; justify-content: space-between; font-size: .75rem; color: var(--soft); margin: .25rem 0 .5rem; }
summary { cursor: pointer; color: var(--accent); font-size: .8125rem; width: fit-content; }
progress { appearance: none; width: 7rem; height: .5rem; border: 0; border-radius: 4px; background: var(--line); vertical-align: middle; overflow: hidden; }
progress::-webkit-progress-bar { background: var(--line); }
progress::-webkit-progress-value { background: var(--accent); }
progress::-moz-progress-bar { background: var(--accent); }
.whole progress { width: 100%; height: .625rem; margin-bottom: 1rem; display: block; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .9375rem; margin: 0 0 .5rem; }
.subject { font-weight: 650; margin: 0 0 .375rem; overflow-wrap: anywhere; }
iframe { width: 100%; height: 22rem; border: 1px solid var(--line); border-radius: 6px; background: #fff; margin-bottom: .25rem; }
.outbox { list-style: none; padding: 0; margin: 0; }
.outbox li { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: .75rem 1rem; margin-bottom: .625rem; }
.outbox li > :last-child { margin-bottom: 0; }
.outbox header { display: flex; flex-wrap: wrap; gap: 0 .75rem; margin-bottom: .375rem; color: var(--soft); font-size: .8125rem; }
.outbox header b, .outbox header a { font-weight: 600; font-size: .875rem; color: var(--ink); text-decoration-color: var(--strong); overflow-wrap: anywhere; }
.outbox header time { margin-left: auto; }
button, input, select, textarea { font: inherit; color: inherit; }
button { padding: .375rem .875rem; border: 1px solid var(--strong); border-radius: 6px; background: var(--paper); cursor: pointer; }
button:hover { border-color: var(--soft); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
button.danger { background: var(--bad); border-color: var(--bad); color: var(--paper); font-weight: 600; }
button:disabled { opacity: .55; cursor: not-allowed; }
input:not([type=checkbox]), select, textarea { padding: .375rem .625rem; border: 1px solid var(--strong); border-radius: 6px; background: var(--paper); min-width: 0; }
input[type=checkbox] { accent-color: var(--accent); margin: 0 .375rem 0 0; vertical-align: -1px; }
input[readonly] { background: var(--ground); }
::placeholder { color: var(--soft); opacity: 1; }
.filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin-bottom: 1rem; }
.filter input[type=search] { flex: 1 1 12rem; max-width: 20rem; }
.kept { border: 1px solid var(--accent); border-radius: 6px; padding: .3125rem .625rem; background: var(--accent-soft); white-space: nowrap; }
.field { margin: 0 0 .875rem; display: flex; flex-direction: column; align-items: flex-start; gap: .1875rem; }
.field label, legend { font-weight: 550; }
.field input:not([type=checkbox]) { width: 22rem; max-width: 100%; }
.field input:is([type=number], [type=date]):not([type=checkbox]) { width: 10rem; }
.field textarea { width: 100%; max-width: 44rem; resize: vertical; } [aria-invalid] { border-color: var(--bad) !important; }
fieldset { border: 0; padding: 0; margin: 0 0 1.25rem; min-width: 0; }
legend { padding: 0; font-size: .9375rem; margin-bottom: .25rem; }
.holiday { margin: 0; display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: flex-end; }
.holiday .field input:is([type=date]):not([type=checkbox]) { width: 9rem; } .holiday .field input:is([type=number]):not([type=checkbox]) { width: 6rem; }
.holiday .check { margin-bottom: 1.25rem; }
.inline { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: flex-start; }
.inline .field { margin: 0; max-width: 100%; } .inline button { margin-top: 1.5rem; }
.actions { display: flex; gap: 1rem; align-items: center; margin: 0; }
.tabs { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
.tabs a { padding: .375rem 0; color: var(--soft); text-decoration: none; border-bottom: 2px solid transparent; margin-bottom: -1px; }
.tabs a[aria-current] { color: var(--ink); font-weight: 600; border-color: var(--accent); }
.pages { display: flex; gap: 1.25rem; margin: 0 0 1rem; }
.alone .brand { padding: 0; }
.alone form > p:last-child { margin: 1rem 0 0; }
.alone .page { border: 0; max-width: 32rem; margin: 0 auto; padding-top: 12vh; }
.alone pre { background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: .625rem .875rem; }
@media (max-width: 60rem) {
  .columns { grid-template-columns: minmax(0, 1fr); }
}
@media screen and (max-width: 48rem) {
  body { display: block; }
  .side { position: static; min-height: 0; border-bottom: 1px solid var(--line); padding: .75rem .75rem .375rem; }
  .brand { margin-bottom: .375rem; }
  .side nav { flex-flow: row wrap; gap: 0 .125rem; }
  .side nav a { padding: .3125rem .5rem; }
  .side nav a[aria-current] { box-shadow: inset 0 -2px var(--accent); border-radius: 6px 6px 0 0; }
  .page { border: 0; padding: 1rem; min-height: 0; }
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: .5rem; }
  .figures > div { padding: .5rem .75rem; } .figures b { font-size: 1.375rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody { display: block; }
  tr { display: flex; flex-wrap: wrap; gap: 0 .875rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  tr:last-child { border-bottom: 0; padding-bottom: 0; }
  td, td.number { display: block; order: 2; border: 0; padding: 0; text-align: left; }
  td.main { order: 0; flex: 1 1 calc(100% - 7rem); font-weight: 550; }
  td.when { order: 1; }
  td:empty { display: none; }
  td[data-name]:not(.main, .when, .plain, [data-name=""])::before { content: attr(data-name) " "; color: var(--soft); font-size: .8125rem; }
  .outbox header time { margin-left: 0; }
  .filter input[type=search] { max-width: none; flex-basis: 100%; }
  .filter select { flex: 1 1 8rem; }
  .facts > div { grid-template-columns: 6.5rem minmax(0, 1fr); }
  button, .side nav a, footer button { min-height: 2.25rem; }
  .side nav a { display: flex; align-items: center; }
}
@media (prefers-reduced-motion: no-preference) {
  .live:not(.off)::before { animation: beat 2.4s ease-in-out infinite; }
  @keyframes beat { 50% { opacity: .35; } }
}
@media print {
  body { display: block; background: var(--paper); -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  .side, .skip, .live, .pages, button, footer { display: none; }
  .page { border: 0; padding: 0; }
  tr, li { break-inside: avoid; }
}
@media (forced-colors: active) {
  .side nav a[aria-current] { border: 1px solid; }
  progress { border: 1px solid; }
}
`;
