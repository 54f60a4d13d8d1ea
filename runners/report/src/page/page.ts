// The report as one page that needs no server, no network and no other file: which agent is better, by how much, how
// certain that is, and the origin of every number. The same data give the same bytes.
import { createHash } from "node:crypto";
import { costsSection } from "../paper/costs.ts";
import { labelText } from "../read/condition-words.ts";
import { aboutAttempts, coverageLine, plainSection, sections } from "../sections/sections.ts";
import { attemptsPart } from "./attempts-part.ts";
import { checkpointsPart, figuresPart } from "./figures-part.ts";
import { html, trusted } from "./html.ts";
import { numbersPart } from "./numbers-part.ts";
import type { PageData } from "./page-data.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";
import { sectionHtml } from "./section-html.ts";
import { stagesPart } from "./stages-part.ts";
import { summarySection } from "./summary-section.ts";

/** report.html, whole. */
export function page(data: PageData): string {
  const { report, plan } = data;
  const name = `${report.title} (${labelText(report)})`;
  const summary = plainSection(aboutAttempts(summarySection(report), report));
  const [results, ...others] = sections(report);
  const made = `${plan.pipeline}, profile ${plan.profile}${plan.selection === "" ? "" : `, ${plan.selection}`}`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '${sourceHash(pageScript)}'; base-uri 'none'; form-action 'none'">
<title>${name}</title>
<style>${trusted(pageStyle)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
<header>
<h1>${name}</h1>
${report.note !== "" && html`<p class="smoke"><b>${report.note}</b></p>`}
<p>${coverageLine(report)} Pipeline ${made}.</p>
<nav aria-label="Sections"><ul>
<li><a href="#section__Summary">Summary</a></li><li><a href="#section__Results">Results</a></li><li><a href="#figures">Figures</a></li><li><a href="#each-attempt">Attempts</a></li><li><a href="#numbers">Means</a></li><li><a href="#stages">Stages</a></li>
</ul></nav>
<p class="tools"><button type="button" id="open-all">Open everything</button> <button type="button" id="close-all">Close everything</button></p>
</header>
<main id="main">
${summary.tables.some(({ groups }) => groups.length > 0) && sectionHtml(summary)}
${results && sectionHtml(results)}
${figuresPart(report)}
${others.map(sectionHtml)}
${data.times !== null && sectionHtml(costsSection(report, data.times))}
${checkpointsPart(report)}
${attemptsPart(data)}
${numbersPart(report, data.instances)}
${stagesPart(data)}
</main>
<footer><p>Made by mlrb from ${made}. The same numbers for programs are in report.json, summary.csv and report.tex next to this page.</p></footer>
<script>${trusted(pageScript)}</script>
</body>
</html>
`.markup;
}

/** The page's policy allows only this script. */
function sourceHash(script: string): string {
  return `sha256-${createHash("sha256").update(script).digest("base64")}`;
}
