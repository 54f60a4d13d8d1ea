// The page's style: on a screen light or dark as the reader's system, one accent colour, tabs on a screen, cards on a
// phone, plain and light on paper.

const colours = `
:root{color-scheme:light dark;--ground:#fff;--text:#1b1d20;--soft:#575c63;--rule:#dcdfe3;--card:#f6f7f9;--accent:#0b5394;--link:#0b5394;--bad:#a3151d;--good:#1c6b2a;--line:#6f757c;--agent-1:#0b62a4;--agent-2:#b3470b;--agent-3:#2b7a3d;--agent-4:#7b3fa0;--agent-5:#8a6d00;--agent-6:#a3246b;--warn:#fff3d6;--warn-text:#6b4a00;--h0:#edf2f8;--h1:#d9e5f1;--h2:#c1d5e9;--h3:#a5c3df;--h4:#86aed3;--h5:#6596c4;--h6:#467db2;--h7:#28629b;--h8:#0d477e}
@media screen and (prefers-color-scheme:dark){:root{--ground:#15181c;--text:#e6e8ea;--soft:#a9afb6;--rule:#383d44;--card:#1d2126;--accent:#8cbdf5;--link:#8cbdf5;--bad:#ff9b9b;--good:#8fdb9c;--line:#99a0a8;--agent-1:#6db3ea;--agent-2:#f0a06a;--agent-3:#84cf95;--agent-4:#cda1e8;--agent-5:#dcc266;--agent-6:#ee93c2;--warn:#40330f;--warn-text:#ffdf94;--h0:#1d2630;--h1:#1f3042;--h2:#213c57;--h3:#264b6f;--h4:#2f5d8a;--h5:#4075a8;--h6:#5a90c4;--h7:#7fb0de;--h8:#b3d5f5}}`;

const frame = `
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,sans-serif}
header,main,footer,nav{max-width:80rem;margin:0 auto;padding:0 1.5rem}
main:focus{outline:none}
h1{font-size:1.2rem;line-height:1.3;margin:0}h2{font-size:1.15rem;margin:2.5rem 0 .4rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p,li,h1,h2,h3,figcaption,summary{overflow-wrap:anywhere}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,button:focus-visible,input:focus-visible,select:focus-visible,.scroll:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--ground);padding:.5rem;z-index:3}
.title{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:baseline;margin-top:.7rem}.title h2{margin:.2rem 0}
.badges{display:flex;flex-wrap:wrap;gap:.3rem;list-style:none;margin:0;padding:0;font-size:.8rem}
.badge{border:1px solid var(--rule);border-radius:1rem;padding:.05rem .55rem;color:var(--soft);white-space:nowrap}.badge.warning{background:var(--warn);color:var(--warn-text);border-color:var(--warn);font-weight:600}
.answers .headline{font-size:1.15rem;line-height:1.35}.answers .finding{display:inline}
.answers{margin:.5rem 0 0}.answers>div{display:grid;grid-template-columns:9rem 1fr;gap:0 1rem;padding:.22rem 0;border-top:1px solid var(--rule)}.answers dt{color:var(--soft)}.answers dd{font-size:.9rem;line-height:1.4;min-width:0}.answers p{margin:.05rem 0}.answers dd div{display:block}.answers .scroll{margin:0}.answers .more{border:0;padding:0;display:inline-block}.answers .more[open]{display:block}.answers summary{padding:0}
.agents td,.agents th{overflow-wrap:normal;border:0;padding:.02rem 1.1rem .02rem 0}.agents thead th{font-weight:400;color:var(--soft)}
.facts{color:var(--soft);font-size:.87rem;margin:.2rem 0 0}
nav{position:sticky;top:0;z-index:2;background:var(--ground);display:flex;align-items:center;gap:1rem;border-bottom:1px solid var(--rule)}
#tabs{display:flex;gap:.2rem;overflow-x:auto;flex:1 1 auto;min-width:0}
#tabs a{padding:.5rem .8rem;text-decoration:none;color:var(--soft);white-space:nowrap;border-bottom:3px solid transparent}
#tabs a:hover{color:var(--text)}#tabs a[aria-selected=true]{color:var(--text);border-bottom-color:var(--accent);font-weight:600}#tabs a:focus-visible{outline-offset:-3px}
.tools{margin:0;white-space:nowrap;font-size:.82rem}
.js .panel{display:none}.js .panel.shown,.js.all .panel{display:block}
.panel{padding-bottom:2rem}.panel>section:first-child>h2,.panel>section:first-child>p:first-child{margin-top:1.2rem}
[id]{scroll-margin-top:3.5rem}
.caption,.faint{color:var(--soft)}.caption{margin:.2rem 0 .5rem;font-size:.88rem}details.caption[open]{max-width:60rem}
.bad,.failed,.disqualified,.rejected,.missing{color:var(--bad)}.pass,.succeeded{color:var(--good)}.strong,.undecided{font-weight:600}
button,input,select{font:inherit;padding:.15rem .5rem;color:var(--text);background:var(--ground);border:1px solid var(--line);border-radius:.3rem}
label>input,label>select{margin:0 .35rem}
[hidden]{display:none!important}
footer{color:var(--soft);padding-bottom:3rem;font-size:.87rem}`;

const tables = `
.scroll{position:relative;overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.89rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
th,td{text-align:left;vertical-align:top;padding:.25rem .9rem .25rem 0;border-bottom:1px solid var(--rule)}
th[scope=row]{font-weight:400}thead th{border-bottom:1px solid var(--text);vertical-align:bottom}
tr.group th{padding-top:.9rem;font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.sortable button{border:0;padding:0;background:none;font-weight:600;cursor:pointer}.sortable [aria-sort=ascending] button::after{content:" ↑"}.sortable [aria-sort=descending] button::after{content:" ↓"}
.filters{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem;align-items:center}
dl{margin:.4rem 0}dl div{display:flex;gap:.8rem;flex-wrap:wrap}dt{min-width:8rem;color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;flex:1 1 20rem}`;

const figures = `
figure{margin:0}figure svg{max-width:100%;height:auto;background:transparent;color:var(--text)}
figcaption{font-weight:600}figcaption+p{margin:.2rem 0}
.overview{display:grid;grid-template-columns:minmax(0,716px) minmax(16rem,1fr);gap:1rem 2rem;align-items:start;padding-top:1rem}
.forest svg{display:block}.forest .narrow{display:none}
.legend{display:inline-flex;flex-wrap:wrap;gap:.1rem 1rem;list-style:none;margin:0 0 0 1rem;padding:0;font-weight:400}
.all-tasks{font-weight:600;margin:.2rem 0 0}
.heat{border-spacing:0}.heat thead th{font-weight:400;color:var(--soft)}.heat th,.heat td{vertical-align:middle;padding:.2rem .9rem .2rem 0}.heat td{white-space:nowrap}
.square{display:inline-block;width:1.55rem;height:1.55rem;line-height:1.5rem;text-align:center;margin-right:2px;border-radius:3px;vertical-align:middle;text-decoration:none;border:1px solid var(--rule)}
a.square:hover{outline:2px solid var(--accent)}
.square.failed{border-color:var(--bad)}
.h0{background-color:var(--h0)}.h1{background-color:var(--h1)}.h2{background-color:var(--h2)}.h3{background-color:var(--h3)}.h4{background-color:var(--h4)}.h5{background-color:var(--h5)}.h6{background-color:var(--h6)}.h7{background-color:var(--h7)}.h8{background-color:var(--h8)}
.hatched{background-image:repeating-linear-gradient(45deg,transparent 0 3px,var(--line) 3px 5px)}
.missing.square{border:1px dashed var(--line)}.nowrap{white-space:nowrap}
.key{font-size:.82rem;color:var(--soft)}.heat.dense .square{width:1.2rem;height:1.3rem;line-height:1.25rem;margin-right:1px}.key span{white-space:nowrap;margin-right:.5rem}.key i{font-style:normal}.key .square{width:1rem;height:1rem;line-height:.9rem;margin:0 1px 0 .3rem}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1.5rem}
.figures.small{grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))}.figures.small svg{width:100%;max-width:29rem}.figures figure{border-top:1px solid var(--rule);padding-top:.6rem}
.graph{background:#fff;border-radius:.4rem;padding:.5rem}.graph svg{height:auto;min-width:60rem;max-width:none}`;

const details = `
details{border-bottom:1px solid var(--rule);padding:.3rem 0}details details{border:0;margin-left:1rem}
summary{cursor:pointer;padding:.15rem 0}
.folded{padding:.15rem 0}.folded>summary{font-size:1.02rem;font-weight:600}.folded>section>h2:first-child{display:none}details.caption{border:0;padding:0}details.caption>summary{padding:0}
details:target>summary{background:var(--card);font-weight:600}
details>:not(summary),details>.scroll{margin-left:1.1rem}
.js:not(.all) details.attempt:not([open]){display:none}
details.attempt[open]>summary{font-size:1.05rem;font-weight:600}
code,pre{font:.88em/1.45 ui-monospace,monospace;overflow-wrap:anywhere}pre{white-space:pre-wrap;background:var(--card);padding:.4rem .6rem;margin:.2rem 0;border-radius:.3rem}
meter{width:10rem}
.story ol{list-style:none;padding:0;max-width:60rem}.story li{padding:.3rem 0 .3rem 5.6rem;position:relative;font-size:.92rem}
.when{position:absolute;left:0;width:5.1rem;text-align:right;font-weight:400;color:var(--soft);font-variant-numeric:tabular-nums}.said{overflow-wrap:anywhere}`;

const media = `
@media (max-width:64rem){.overview{grid-template-columns:minmax(0,1fr)}}
@media (max-width:44rem){.agents{min-width:44rem}header,main,footer,nav{padding:0 1rem}nav{flex-wrap:wrap;gap:0}#tabs{flex-basis:100%}.tools{margin:.2rem 0}.answers>div{grid-template-columns:1fr}.answers .headline{font-size:1.08rem}.figures{grid-template-columns:1fr}.forest .wide{display:none}.forest .narrow{display:block}.legend{margin-left:0}#tabs a{padding:.6rem .6rem}
.cards thead{display:none}.cards,.cards tbody{display:block}.cards tr{display:block;border:1px solid var(--rule);border-radius:.5rem;padding:.5rem .8rem;margin-bottom:.6rem}.cards th,.cards td{display:flex;justify-content:space-between;gap:1rem;border:0;padding:.1rem 0;white-space:normal}.cards th::before,.cards td::before{content:attr(data-label);color:var(--soft)}.rules th,.rules td{justify-content:start}.rules th::before,.rules td::before{flex:none;width:4.5rem}
.story li{padding-left:0}.when{position:static;width:auto}}
@media print{details.folded::details-content{content-visibility:visible;block-size:auto}.unprinted,.js .each-attempt:not(:has(details[open])){display:none}h2,h3,figcaption,.caption,.title,caption,thead,tr.group{break-after:avoid}:root{--ground:#fff;--text:#000;--soft:#333;--card:#fff;--link:#000;--accent:#000}body{font-size:12px}.tools,nav,.skip,.filters,.search,input,label{display:none}nav{position:static}.js:not(.all) .panel{display:none}.js:not(.all) .panel.printed{display:block}section{break-inside:auto}figure,tr{break-inside:avoid}.scroll{overflow:visible}a{text-decoration:none}.square,.hatched,.sign{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`;

export const pageStyle = colours + frame + tables + figures + details + media;
