// The page's tabs, and which of the report's sections each one holds. A section that is not named here is under
// Statistics, so that a new section of the report is never missing from the page.
import type { Section } from "../sections/table.ts";
import { type Html, html } from "./html.ts";

export const tabs = [
  { id: "results", name: "Results" },
  { id: "attempts", name: "Attempts" },
  { id: "cost", name: "Cost" },
  { id: "over-time", name: "Over time" },
  { id: "statistics", name: "Statistics" },
  { id: "provenance", name: "Provenance" },
] as const;
export type TabId = (typeof tabs)[number]["id"];

const headings: Record<string, TabId> = {
  Results: "results",
  "Across tasks": "results",
  "Levels of difficulty": "results",
  "Best of k": "results",
  Together: "results",
  "Secondary measurements": "results",
  "Best attempt of each cell, never compared": "results",
  "Trivial baselines and reference models": "results",
  Attempts: "attempts",
  "Attempts that kept the rules": "attempts",
  "What each attempt built": "attempts",
  "Rules broken or undecided, decisions of people, and scores rejected": "attempts",
  "Not measured": "attempts",
  Memorisation: "attempts",
  Research: "over-time",
  "Intermediate checkpoints": "over-time",
  "Tasks and agents": "provenance",
  Metrics: "provenance",
  Hardware: "provenance",
};

/** `heading` may end with the data's label in parentheses. */
export function tabOf({ heading }: Pick<Section, "heading">): TabId {
  return headings[heading] ?? headings[heading.replace(/ \([^()]*\)$/, "")] ?? "statistics";
}

export function tabBar(): Html {
  return html`<nav aria-label="Sections"><div id="tabs">${tabs.map(({ id, name }) => html`<a id="to-${id}" href="#tab-${id}">${name}</a>`)}</div>
<p class="tools"><button type="button" id="open-all">Open everything</button> <button type="button" id="close-all">Close everything</button></p></nav>
`;
}

/** How many of the first tabs are on paper. */
const printed = 2;

/** Without the page's script all tabs follow each other. */
export function tabPanel(id: TabId, inside: Html[]): Html {
  const name = tabs.find((tab) => tab.id === id)!.name;
  const isEmpty = inside.every(({ markup }) => markup.trim() === "");
  const place = tabs.findIndex((tab) => tab.id === id);
  const classes = ["panel", place === 0 ? "shown" : "", place < printed ? "printed" : ""];
  return html`<div class="${classes.filter((one) => one !== "").join(" ")}" id="tab-${id}">
${inside}${isEmpty && html`<p class="caption">${name}: nothing was recorded.</p>`}</div>
`;
}
