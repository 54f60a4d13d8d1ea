// The report as one page that needs no server, no network and no other file: which agent is better, by how much,
// how certain that is, and the origin of every number. The same data give the same bytes.
import { createHash } from "node:crypto";
import { costsSection } from "../paper/costs.ts";
import { protocolSection } from "../protocol/protocol-section.ts";
import { labelText } from "../read/condition-words.ts";
import { resultsSection } from "../sections/results-section.ts";
import { aboutAttempts, plainSection, sections } from "../sections/sections.ts";
import { togetherCostsSections } from "../sections/together-section.ts";
import { attemptsPart } from "./attempts-part.ts";
import { attemptsTable } from "./attempts-table.ts";
import { costFigures } from "./charts/cost-figures.ts";
import { dosePart } from "./charts/dose-response.ts";
import { overTimePart } from "./charts/over-time.ts";
import { profilesPart } from "./charts/profiles.ts";
import { timeSpentPart } from "./charts/time-spent-part.ts";
import { citePart } from "./citation.ts";
import { overviewPart, pageHead } from "./first-screen.ts";
import { type Html, html, trusted } from "./html.ts";
import { numbersPart } from "./numbers-part.ts";
import type { PageData } from "./page-data.ts";
import { pageScript } from "./page-script.ts";
import { pageStyle } from "./page-style.ts";
import { folded, sectionHtml } from "./section-html.ts";
import { stagesPart } from "./stages-part.ts";
import { type TabId, tabBar, tabOf, tabPanel } from "./tabs.ts";

/** report.html, whole. */
export function page(data: PageData): string {
  const { report, plan } = data;
  const made = `${plan.pipeline}, profile ${plan.profile}${plan.selection === "" ? "" : `, ${plan.selection}`}`;
  // the script is first, so that it hides the other tabs before they are drawn
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '${sourceHash(pageScript)}'; base-uri 'none'; form-action 'none'">
<title>${report.title} (${labelText(report)})</title>
<style>${trusted(pageStyle)}</style>
<script>${trusted(pageScript)}</script>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
${pageHead(data)}
${tabBar()}
<main id="main" tabindex="-1">
${panels(data)}
</main>
<footer><p>Made by mlrb from ${made}. The same numbers for programs are in report.json, summary.csv and tables/ next to this page.</p>
${citePart(data)}</footer>
</body>
</html>
`.markup;
}

/** Sections that are not one click away. */
const openSections =
  /^(Across tasks|Best of k|Together|Tasks and agents|Agents compared over all tasks|Rules broken|Not measured)/;

function panels(data: PageData): Html[] {
  const { report, times, instances } = data;
  const all = sections(report).map((section) => {
    const tab = tabOf(section);
    const isFolded = tab !== "over-time" && !openSections.test(section.heading);
    // the page's first table has the heading Results
    const named = section.heading === "Results" ? { ...section, heading: "All metrics" } : section;
    return { tab, drawn: isFolded ? folded(named.heading, sectionHtml(named)) : sectionHtml(named) };
  });
  const of = (id: TabId) => all.filter(({ tab }) => tab === id).map(({ drawn }) => drawn);
  const [allMeans = html``, ...otherResults] = of("results");
  const primary = sectionHtml(
    plainSection(aboutAttempts(resultsSection(report, { primaryOnly: true }), report)),
  );
  return [
    tabPanel("results", [
      dosePart(report),
      overTimePart(report), // what readers look for first
      overviewPart(report),
      profilesPart(report),
      report.attempts.length === 0 ? html`` : primary,
      allMeans,
      ...otherResults,
    ]),
    tabPanel("attempts", [attemptsTable(report, times), attemptsPart(data), ...of("attempts")]),
    tabPanel(
      "cost",
      times === null
        ? []
        : [
            costFigures(report, times),
            timeSpentPart(report, times),
            sectionHtml(costsSection(report, times)),
            ...togetherCostsSections(report, times).map(sectionHtml),
          ],
    ),
    tabPanel("over-time", of("over-time")),
    tabPanel("statistics", of("statistics")),
    tabPanel("provenance", [
      sectionHtml(plainSection(protocolSection(data.protocol))),
      ...of("provenance"),
      ...[folded("Where each mean comes from", numbersPart(report, instances)), stagesPart(data)],
    ]),
  ];
}

/** The page's policy allows only this script. */
function sourceHash(script: string): string {
  return `sha256-${createHash("sha256").update(script).digest("base64")}`;
}
