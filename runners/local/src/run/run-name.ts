// Names a run: when it began, its number among this process's runs from the second on, and the process.
import { processName } from "@mlrb/kit/processes/process-name";

let runs = 0;

export function newRunName(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  return `${time}${++runs > 1 ? `.${runs}` : ""}-${processName}`;
}
