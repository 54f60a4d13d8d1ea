// Tells a run of the jobs that carry an attempt out on a cluster, one after the other. Their supervisor submits
// them, and their folders are all that a run sees of them.
import { type JobOfAttempt, jobsOfAttempt } from "@mlrb/kit/attempts/open-job";
import type { CarryOutContext } from "./carried-out.ts";

const lookMs = 200;

export function followJobs(
  folder: string,
  { submitted, placed, continued }: Pick<CarryOutContext, "submitted" | "placed" | "continued">,
): { stop(): void } {
  /** By number: when it was seen in the queue; undefined for a job that was there before. */
  const queued = new Map<number, number | undefined>();
  const seen = new Set<number>();
  const look = (isFirst = false) => {
    for (const job of jobsOfAttempt(folder)) {
      if (!seen.has(job.number)) begin(job, isFirst);
      if (!job.place || !queued.has(job.number)) continue;
      const sinceMs = queued.get(job.number);
      queued.delete(job.number);
      placed(job.place, sinceMs === undefined ? undefined : Math.round(performance.now() - sinceMs));
    }
  };
  const begin = ({ number, isOpen, after }: JobOfAttempt, isFirst: boolean) => {
    seen.add(number);
    if (isFirst && !isOpen) return;
    queued.set(number, isFirst ? undefined : performance.now());
    if (!isFirst && after !== undefined) continued(after);
    submitted();
  };
  look(true);
  const timer = setInterval(() => look(), lookMs).unref();
  return {
    stop() {
      clearInterval(timer);
      look(); // a short job
    },
  };
}
