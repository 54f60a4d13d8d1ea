// How often an agent hands in something that keeps the rules: a rate of few attempts, with its interval.
import type { Report } from "@mlrb/formats/report";
import { type Section, textCell } from "./table.ts";

export function validitySection(report: Report): Section {
  return {
    heading: "Valid attempts",
    caption: "Share of the judged attempts that pass all rules, with Wilson's 95 % interval.",
    tables: [
      {
        title: "",
        columns: [
          { head: "agent", rigid: false },
          { head: "planned", rigid: true },
          { head: "judged", rigid: true },
          { head: "pass", rigid: true },
          { head: "rate", rigid: true },
        ],
        groups: report.agents.length === 0 ? [] : [{ name: "", title: "", rows: rows(report) }],
      },
    ],
    items: [],
  };
}

function rows(report: Report) {
  return report.coverage.agents.map(({ agent, planned, judged, pass, passInterval }) => {
    const title = report.agents.find(({ name }) => name === agent)!.title;
    const [low, high] = (passInterval ?? []).map((bound) => bound.toFixed(2));
    return [
      textCell(title === agent ? agent : `${agent}: ${title}`),
      textCell(String(planned)),
      textCell(String(judged)),
      textCell(String(pass)),
      textCell(passInterval ? `${(pass / judged).toFixed(2)} [${low}, ${high}]` : "unknown"),
    ];
  });
}
