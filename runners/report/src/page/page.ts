// The report as one page that needs no server, no network and no other file: who is better, by how much, can
// it be told from noise, and where every number comes from. Same data, same bytes.
import { createHash } from "node:crypto";
import type { Report } from "@mlrb/formats/report";
import { coverageLine, plainSection, sections } from "../sections/sections.ts";
import { attemptsPart } from "./attempts-part.ts";
import { figureData } from "./figure-data.ts";
import { figureSvg } from "./figure-svg.ts";
import { type Html, html, trusted } from "./html.ts";
import { momentsPart } from "./moments-part.ts";
import { numbersPart } from "./numbers-part.ts";
import type { PageData } from "./page-data.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";
import { sectionHtml } from "./section-html.ts";
import { shortSection } from "./short-part.ts";
import { stagesPart } from "./stages-part.ts";

/** report.html, whole. */
export function page(data: PageData): string {
  const { report, plan } = data;
  const name = `${report.title} (${report.label})`;
  const short = plainSection(shortSection(report));
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
${short.tables.some(({ groups }) => groups.length > 0) && sectionHtml(short)}
${results && sectionHtml(results)}
${figuresPart(report)}
${others.map(sectionHtml)}
${momentsPart(report)}
${attemptsPart(data)}
${numbersPart(report, data.instances)}
${stagesPart(data)}
</main>
<footer><p>Made by mlrb from ${made}. The same numbers for programs are in report.json, report.csv and report.tex next to this page.</p></footer>
<script>${trusted(pageScript)}</script>
</body>
</html>
`.markup;
}

function figuresPart(report: Report): Html {
  const agents = report.agents.map(({ name }) => name);
  const figures = report.tasks.flatMap(({ name, title }) => {
    const found = figureData(report, name);
    return found ? [{ name, title, found }] : [];
  });
  if (figures.length === 0) return html``;
  return html`<section aria-labelledby="figures"><h2 id="figures">Every attempt</h2>
<p class="caption">On the metric that decides the task. A disc is an attempt. A cross is a failed attempt, which is scored at the trivial baseline. The vertical bar is the agent's mean, and the line through it the 95 % interval over attempts. Dashed lines are baselines and reference models; the trivial baseline and the reference model of the normalised score are heavier.</p>
<div class="figures">${figures.map(
    ({
      name,
      title,
      found,
    }) => html`<figure><figcaption>${title === name ? name : `${name}: ${title}`}</figcaption>
${found.points.length > 0 && figureSvg(found, agents)}
${found.absent.map(({ agent, seed, why }) => html`<p class="bad">${agent}, seed ${seed}: ${why}</p>`)}</figure>`,
  )}</div></section>
`;
}

/** For the page's own script alone: nothing else may run in it. */
function sourceHash(script: string): string {
  return `sha256-${createHash("sha256").update(script).digest("base64")}`;
}
