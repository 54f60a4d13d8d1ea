// The states of Slurm's jobs, as far as they matter to a runner.
// Pure.

/** `ending`: its processes are being ended. */
const states = {
  PENDING: "pending",
  CONFIGURING: "pending",
  REQUEUED: "pending",
  REQUEUE_FED: "pending",
  REQUEUE_HOLD: "pending",
  RESV_DEL_HOLD: "pending",
  SPECIAL_EXIT: "pending",
  RUNNING: "running",
  SUSPENDED: "running",
  STOPPED: "running",
  SIGNALING: "running",
  RESIZING: "running",
  COMPLETING: "ending",
  STAGE_OUT: "ending",
  COMPLETED: "completed",
  FAILED: "failed",
  LAUNCH_FAILED: "node-failed",
  BOOT_FAIL: "node-failed",
  NODE_FAIL: "node-failed",
  RECONFIG_FAIL: "node-failed",
  CANCELLED: "cancelled",
  TIMEOUT: "time-limit",
  DEADLINE: "time-limit",
  OUT_OF_MEMORY: "out-of-memory",
  PREEMPTED: "preempted",
  REVOKED: "revoked",
} as const;

/** `other`: a state that decides nothing. */
export type JobState = (typeof states)[keyof typeof states] | "other";

/** `word` begins with the long form, as of `squeue -o %T`; sacct may append the user who cancelled the job. */
export function jobState(word: string): JobState {
  const name = /^[A-Z_]+/.exec(word)?.[0] ?? "";
  return Object.hasOwn(states, name) ? states[name as keyof typeof states] : "other";
}

export function isFinal(state: JobState): boolean {
  return !["pending", "running", "ending", "other"].includes(state);
}

/** Whether a job is tried again whatever a late file would say: its node may never write one. */
export function isLost(state: JobState): boolean {
  return state === "preempted" || state === "node-failed";
}
