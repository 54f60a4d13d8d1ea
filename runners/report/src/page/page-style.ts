// The page's style: light or dark as the reader's system, one column on a phone, plain on paper.

export const pageStyle = `
:root{color-scheme:light dark;--ground:#fff;--text:#1b1b1b;--soft:#595959;--rule:#c9c9c9;--card:#f5f5f2;--link:#0b4f9e;--bad:#a3151d;--good:#1c6b2a;--line:#6f6f6f;--agent-1:#0b62a4;--agent-2:#b3470b;--agent-3:#2b7a3d;--agent-4:#7b3fa0;--agent-5:#8a6d00;--agent-6:#a3246b}
@media (prefers-color-scheme:dark){:root{--ground:#16181b;--text:#e8e8e6;--soft:#b0b0ac;--rule:#44484d;--card:#1f2226;--link:#8cbdf5;--bad:#ff9b9b;--good:#8fdb9c;--line:#a3a3a3;--agent-1:#6db3ea;--agent-2:#f0a06a;--agent-3:#84cf95;--agent-4:#cda1e8;--agent-5:#dcc266;--agent-6:#ee93c2}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:70rem;margin:0 auto;padding:0 1rem}
main>section,.figures figure{scroll-margin-top:1rem}
h1{font-size:1.7rem;margin:1.5rem 0 .25rem}h2{font-size:1.3rem;margin:2.5rem 0 .5rem}h3{font-size:1.05rem;margin:1.5rem 0 .25rem}
p,li,h1,h2,h3,figcaption,summary{overflow-wrap:anywhere}
a{color:var(--link)}
a:focus-visible,summary:focus-visible,button:focus-visible,input:focus-visible,.scroll:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--ground);padding:.5rem;z-index:1}
.smoke{border-left:.4rem solid var(--bad);background:var(--card);padding:.6rem .9rem;margin:1rem 0}
.caption,.faint{color:var(--soft)}.caption{max-width:50rem;margin:.25rem 0 .75rem}
.bad,.failed,.struck,.rejected,.missing{color:var(--bad)}.pass,.succeeded{color:var(--good)}.strong{font-weight:600}
nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;padding:0}
.scroll{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.92rem}
caption{text-align:left;font-weight:600;padding:.3rem 0}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
th,td{text-align:left;vertical-align:top;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--rule)}
th[scope=row]{font-weight:400}thead th{border-bottom:2px solid var(--text)}
tr.group th{padding-top:.9rem;font-weight:600}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:1rem}
figure{margin:0;background:var(--card);padding:.8rem;border-radius:.4rem}figure svg{max-width:100%;height:auto;background:transparent;color:var(--text)}
figcaption{font-weight:600}figcaption+p{margin:.2rem 0}
details{border-bottom:1px solid var(--rule);padding:.3rem 0}details details{border:0;margin-left:1rem}
summary{cursor:pointer;padding:.15rem 0}
details:target>summary{background:var(--card);font-weight:600}
details>:not(summary){margin-left:1.1rem}
dl{margin:.4rem 0}dl div{display:flex;gap:.8rem;flex-wrap:wrap}dt{min-width:8rem;color:var(--soft)}dd{margin:0;overflow-wrap:anywhere;flex:1 1 20rem}
code,pre{font:.88em/1.45 ui-monospace,monospace;overflow-wrap:anywhere}pre{white-space:pre-wrap;background:var(--card);padding:.5rem}
meter{width:10rem}.trajectory{padding-left:1.2rem;font-size:.92rem}.when{color:var(--soft);font-variant-numeric:tabular-nums}.said{white-space:pre-wrap;overflow-wrap:anywhere}
.graph{background:#fff;border-radius:.4rem;padding:.5rem}.graph svg{height:auto;min-width:60rem;max-width:none}
button,input{font:inherit;padding:.25rem .6rem}
[hidden]{display:none!important}
footer{color:var(--soft);padding-bottom:3rem}
@media (max-width:40rem){body{font-size:15px}.figures{grid-template-columns:1fr}}
@media print{:root{--ground:#fff;--text:#000;--soft:#333;--card:#fff;--link:#000}.tools,nav,.skip,input,label{display:none}section{break-inside:auto}figure,tr{break-inside:avoid}.scroll{overflow:visible}a{text-decoration:none}}
`;
