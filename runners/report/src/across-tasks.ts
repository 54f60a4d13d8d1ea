// What report.json says of the agents over all tasks; over-tasks.ts makes it.

export type AcrossTasks = {
  /** Tasks on whose primary metrics a scale carries, with floor (0) and anchor (1). */
  tasks: { task: string; metric: string; floor: number; anchor: number; anchorName: string }[];
  /** The other tasks, and why. */
  leftOut: { task: string; why: string }[];
  agents: AgentAcrossTasks[];
};

export type AgentAcrossTasks = {
  agent: string;
  /** The tasks that its numbers are over; only agents with the same ones can be compared. */
  tasks: string[];
  /** Of the tasks with a scale, those at which its values cannot be used, and why. */
  leftOut: { task: string; why: string }[];
  /** Unweighted mean over tasks of the mean over attempts; null without tasks. */
  mean: number | null;
  /** The mean without each task in turn; empty for fewer than two tasks. */
  leaveOneOut: { without: string; mean: number }[];
  /** The mean of the middle half of all attempts, every task with the same weight. */
  interquartileMean: number | null;
};
