// Reads what `squeue` prints, and what Slurm says in the output of a job.
// Pure.
import { type JobState, jobState } from "./job-state.ts";

/** A job as Slurm lists it. */
export type ListedJob = {
  id: string;
  state: JobState;
  /** Why it waits, or how it ended, in Slurm's word; empty without one. */
  reason: string;
  /** Empty before it has a node. */
  node: string;
  partition: string;
  name: string;
  comment: string;
};

/** The comment is the last: it may hold any character but a line break. */
export const squeueFormat = "%i|%T|%r|%N|%P|%j|%k";

/** Lines of `squeue --noheader` with `squeueFormat`. Other lines, e.g. of a site's wrapper, are left out. */
export function readSqueue(text: string): ListedJob[] {
  return text.split("\n").flatMap((line) => {
    const [id, word, reason, node, partition, name, ...comment] = line.split("|");
    if (comment.length === 0 || !/^\d/.test(id!)) return [];
    return {
      id: id!,
      state: jobState(word!),
      reason: ["None", "(null)"].includes(reason!) ? "" : reason!,
      node: node!,
      partition: partition!,
      name: name!,
      comment: comment.join("|"),
    };
  });
}

/**
 * How a job ended, from the message that Slurm appends to the job's own output: known also where Slurm has
 * forgotten the job and has no accounting.
 */
export function endInOutput(text: string): JobState | undefined {
  const ends = text.matchAll(
    /^\S*slurmstepd\S*: error: \*\*\* JOB \d+ ON \S+ CANCELLED AT \S+(.*) \*\*\*$/gm,
  );
  const last = [...ends].at(-1);
  if (!last) return undefined;
  const why = last[1]!;
  if (/DUE TO TIME LIMIT/.test(why)) return "time-limit";
  if (/DUE TO PREEMPTION/.test(why)) return "preempted";
  if (/DUE TO NODE FAILURE/.test(why)) return "node-failed";
  return why === "" ? "cancelled" : undefined;
}
