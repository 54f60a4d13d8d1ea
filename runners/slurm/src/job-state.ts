// The states of Slurm's jobs, as far as they matter to a runner.
// Pure.

/** The words of Slurm for each state. `ending`: its processes are being ended. */
const states = {
  pending: [
    "PENDING",
    "CONFIGURING",
    "REQUEUED",
    "REQUEUE_FED",
    "REQUEUE_HOLD",
    "RESV_DEL_HOLD",
    "SPECIAL_EXIT",
  ],
  running: ["RUNNING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING"],
  ending: ["COMPLETING", "STAGE_OUT"],
  completed: ["COMPLETED"],
  failed: ["FAILED"],
  "node-failed": ["LAUNCH_FAILED", "BOOT_FAIL", "NODE_FAIL", "RECONFIG_FAIL"],
  cancelled: ["CANCELLED"],
  "time-limit": ["TIMEOUT", "DEADLINE"],
  "out-of-memory": ["OUT_OF_MEMORY"],
  preempted: ["PREEMPTED"],
  revoked: ["REVOKED"],
};

/** `other`: a state that decides nothing. */
export type JobState = keyof typeof states | "other";

/** `word` begins with the long form, as of `squeue -o %T`; sacct may append the user who cancelled the job. */
export function jobState(word: string): JobState {
  const name = /^[A-Z_]+/.exec(word)?.[0] ?? "";
  const found = Object.entries(states).find(([, words]) => words.includes(name));
  return found ? (found[0] as JobState) : "other";
}

export function isFinal(state: JobState): boolean {
  return !["pending", "running", "ending", "other"].includes(state);
}

/** Whether a job is tried again whatever a late file would say: its node may never write one. */
export function isLost(state: JobState): boolean {
  return state === "preempted" || state === "node-failed";
}
