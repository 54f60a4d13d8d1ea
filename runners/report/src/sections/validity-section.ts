// The share of an agent's attempts that pass all rules, with an interval, because attempts are few.
import type { Report } from "@mlrb/formats/report";
import { rateText } from "./statistics-text.ts";
import type { Section } from "./table.ts";
import { oneGroup, tableOf } from "./table-of.ts";

export function validitySection(report: Report): Section {
  return {
    heading: "Valid attempts",
    caption:
      "Share of the judged attempts that pass all rules, with Wilson's 95 % interval. Repeats of one attempt have no interval.",
    tables: [
      tableOf({
        groups: oneGroup(titledAgents(report)),
        columns: [
          { head: "agent", cell: ({ agent, title }) => (title === agent ? agent : `${agent}: ${title}`) },
          { head: "planned", rigid: true, cell: ({ planned }) => String(planned) },
          { head: "judged", rigid: true, cell: ({ judged }) => String(judged) },
          { head: "pass", rigid: true, cell: ({ pass }) => String(pass) },
          {
            head: "rate",
            rigid: true,
            cell: ({ pass, judged, passInterval }) =>
              judged === 0 ? "unknown" : rateText(pass / judged, passInterval),
          },
        ],
      }),
    ],
    items: [],
  };
}

function titledAgents({ agents, coverage }: Report) {
  return agents.flatMap(({ name, title }) =>
    coverage.agents.filter(({ agent }) => agent === name).map((each) => ({ ...each, title })),
  );
}
