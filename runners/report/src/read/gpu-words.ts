// The mark of attempts whose GPUs differ from those of most attempts.
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { byText } from "./order.ts";

/** Follows an attempt on other GPUs. */
export const gpuMark = "◊";

/** The class of attempts without a GPU. */
export const withoutGpu = "no GPU";

export type GpuClass = { name: string; attempts: number };

/** The classes of GPUs that attempts with a record held, the most frequent first. */
export function gpuClasses({ attempts }: Pick<Report, "attempts">): GpuClass[] {
  const ran = attempts.filter(({ verdict }) => verdict.kind !== "missing");
  return [...Map.groupBy(ran, classOf)]
    .map(([name, members]) => ({ name, attempts: members.length }))
    .sort((a, b) => b.attempts - a.attempts || byText(a.name, b.name));
}

/** The class of the attempt's GPUs if most attempts had others; else empty. */
export function otherGpus(classes: GpuClass[], attempt: Attempt): string {
  const name = classOf(attempt);
  return attempt.verdict.kind === "missing" || name === classes[0]?.name ? "" : name;
}

function classOf({ gpus }: Pick<Attempt, "gpus">): string {
  return gpus ?? withoutGpu;
}
