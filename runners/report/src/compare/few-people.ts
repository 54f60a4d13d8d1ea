// Under three people at a task say nothing about people: they enter no test and no rank, and their numbers stay.
import type { Report } from "@mlrb/formats/report";

export const peopleMin = 3;

/** The report without the agents of kind person that too few people attempted somewhere; itself without any. */
export function withoutFewPeople(report: Report): Report {
  const few = report.agents.filter(
    ({ name, preset }) =>
      preset?.kind === "person" &&
      report.cells.some(({ agent, primary, measured }) => agent === name && primary && measured < peopleMin),
  );
  if (few.length === 0) return report;
  const isLeft = (agent: string) => !few.some(({ name }) => name === agent);
  return {
    ...report,
    agents: report.agents.filter(({ name }) => isLeft(name)),
    attempts: report.attempts.filter(({ agent }) => isLeft(agent)),
    cells: report.cells.filter(({ agent }) => isLeft(agent)),
    comparisons: report.comparisons.filter(({ agents }) => agents.every(isLeft)),
  };
}
