// The rows of the results table as they come: those of a task once everything that the report collects of it has
// ended. They are made by the report's own code from the same members, so they are the rows of its final table.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { collectMembers } from "@mlrb/local/decide/collect-members";
import type { Result } from "@mlrb/local/run/result";
import type { Workspace } from "@mlrb/local/store/workspace";

type Of = { plan: Plan; selected: readonly number[]; workspace: Workspace };
type Results = (Result | undefined)[];
type Rows = (look: { width: number; color: boolean }) => string[];

/** A function of an instance that has ended: the lines of its task's rows, where it was the last one. */
export function firstRows({ plan, selected, workspace }: Of) {
  const report = plan.instances.find(({ stage }) => stage.publishes);
  const taskOf = ({ from }: { from: number }) => plan.instances[from]!.axes.task;
  const byTask = Map.groupBy(report?.members ?? [], taskOf);
  byTask.delete(undefined as never);
  const isSelected = new Set(selected);
  return async ({ index, axes }: Instance, results: Results): Promise<Rows | undefined> => {
    const members = byTask.get(axes.task!) ?? [];
    const isOpen = ({ from }: { from: number }) => isSelected.has(from) && !results[from];
    // the table of a single task follows at once, and a task that did not run in this run is no news
    if (byTask.size < 2 || !members.some(({ from }) => from === index) || members.some(isOpen))
      return undefined;
    if (members.every(({ from }) => results[from]?.outcome.kind === "reused")) return undefined;
    try {
      const { reportData, readArtifact, readArtifactBytes, terminalMeans } = await reportCode();
      const collected = collectMembers({ ...report!, members }, { plan, workspace, results });
      for (const artifact of collected.members.flatMap(({ artifacts }) => Object.values(artifacts)))
        if (artifact.path !== undefined) artifact.path = workspace.store.pathOf(artifact.digest);
      const { params } = report!.action;
      const data = reportData(collected, { params, read: readArtifact, readSamples: readArtifactBytes });
      return (look) => terminalMeans(data, look);
    } catch {
      return undefined; // e.g. a report of other parameters, which has no such table: its stage says so
    }
  };
}

/** Loaded once a task is scored: the start of a run needs none of it. */
async function reportCode() {
  const [data, read, table] = await Promise.all([
    import("@mlrb/report/read/report-data"),
    import("@mlrb/report/read/read-artifact"),
    import("@mlrb/report/formats/terminal-table"),
  ]);
  return { ...data, ...read, ...table };
}
