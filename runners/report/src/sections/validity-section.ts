// The share of an agent's attempts that pass all rules, with an interval, because attempts are few.
import type { Report } from "@mlrb/formats/report";
import { rateText } from "./digits-text.ts";
import type { Section } from "./table.ts";
import { column, numeric, oneGroup, tableSection } from "./table-of.ts";

export function validitySection(report: Report): Section {
  const about = {
    heading: "Attempts that kept the rules",
    caption:
      "Share of the judged attempts that kept all disqualifying rules, with Wilson's 95 % interval. Repeats of one attempt have no " +
      "interval. Undecided attempts have a disqualifying rule that could not be decided: they are counted apart, and not as kept.",
  };
  return tableSection(about, oneGroup(titledAgents(report)), [
    column("agent", ({ agent, title }) => (title === agent ? agent : `${agent}: ${title}`)),
    numeric("planned", ({ planned }) => String(planned)),
    numeric("kept the rules", ({ pass, judged }) => `${pass}/${judged}`),
    numeric("undecided", ({ undecided }) => String(undecided)),
    numeric("rate", ({ pass, judged, passInterval }) =>
      judged === 0 ? "unknown" : rateText(pass / judged, passInterval),
    ),
  ]);
}

function titledAgents({ agents, coverage }: Report) {
  return agents.flatMap(({ name, title }) =>
    coverage.agents.filter(({ agent }) => agent === name).map((each) => ({ ...each, title })),
  );
}
