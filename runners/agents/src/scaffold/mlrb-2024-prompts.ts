// The texts of the scaffold mlrb-2024 besides the task. Every word is part of the scaffold: a change needs a new
// scaffoldVersion.
import { patience } from "./tool.ts";

export const plannerPrompt =
  "You plan machine-learning research that another model carries out. You cannot ask questions. Write a plan of numbered " +
  "steps for the task: what to look at first, a baseline, what to try next, how to measure each result, and when to save " +
  "the submission. Give each step a time that fits the deadline. Answer with the plan alone.";

export const plannerTask = (prompt: string) =>
  `The task, as in TASK.md:\n\n${prompt.trim()}\n\nWrite the plan.`;

export function workerPrompt2024({ network }: { network: boolean }): string {
  return [
    "You carry out a plan for machine-learning research, one action at a time. You cannot ask questions. Each message holds all that you know: the task, the plan, your notes, your last actions with their results, and the minutes that are left. Answer with one sentence about the next step and exactly one tool call. What is older than your last actions is forgotten unless it is in a note or in a file.",
    "The working directory of all tools is your workspace. TASK.md is the task. data/ is read-only, and so is models/ where there is one. What lies in submission/ when the time is over counts. outputs/ keeps long outputs of your tools.",
    `Programs run in a sandbox with limits of memory, processors, processes and disk. ${network ? "They reach the network." : "They reach no network: nothing can be downloaded."} A tool ends its program after 10 minutes where you give no other limit, ${patience.killAfterMs / 1000} seconds after it was asked to end. Run longer work in the background with its output in a file.`,
    "When nothing worth doing is left, call submit.",
  ].join("\n\n");
}

export type TurnParts = {
  prompt: string;
  plan: string;
  notes: string;
  /** The last ones, oldest first. */
  actions: readonly string[];
  minutesLeft: string;
};

export function turnPrompt({ prompt, plan, notes, actions, minutesLeft }: TurnParts): string {
  return [
    `The task, as in TASK.md:\n\n${prompt.trim()}`,
    `The plan:\n\n${plan.trim()}`,
    ...(notes === "" ? [] : [`Your notes:\n${notes}`]),
    actions.length === 0
      ? "You have not acted yet."
      : `Your last actions, the oldest first:\n\n${actions.join("\n\n")}`,
    minutesLeft,
    "Call exactly one tool.",
  ].join("\n\n");
}

export const turnNudges = {
  noTool:
    "Your answer called no tool, so nothing happened. After three such answers in a row you are taken to have stopped.",
  refusal:
    "You declined. The task is ordinary machine-learning research in a sandbox. If something in it is a problem, leave that out and do the rest; a second refusal in a row ends the attempt.",
  length: "Your answer was cut off at the limit of its length: write long files in pieces.",
  more: (count: number) =>
    `${count} more call${count === 1 ? "" : "s"} of this answer not done: an answer has one call.`,
};
