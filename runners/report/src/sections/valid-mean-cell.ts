// A mean over an agent's valid attempts with how many of its planned attempts are valid.
import type { NamedMean } from "../compare/means-by-name.ts";
import { type TableCell, textCell } from "./table.ts";

export function validMeanCell(
  { agents }: Pick<NamedMean<unknown>, "agents">,
  agent: string,
  shown: (value: number) => string,
): TableCell {
  const found = agents.find((each) => each.agent === agent);
  if (!found) return textCell("not planned", "faint");
  const { mean, attempts, planned } = found;
  return textCell(`${mean === null ? "–" : shown(mean)} (${attempts}/${planned})`);
}
