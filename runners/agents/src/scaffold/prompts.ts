// Our own texts for the models besides the task. Every word is part of the scaffold: a change needs a new
// scaffoldVersion.
import { patience } from "./tool.ts";

export type PromptFacts = {
  network: boolean;
  tools: string[];
  /** Whether a worker does the work. */
  leads: boolean;
};

const research = `How to work:
1. Understand: read TASK.md, look at data/, at the machine (processors, memory, disk, GPU) and at the programs that are installed. Find out how the result is scored.
2. Plan: write down what you will try, in which order, and how long each step may take. Estimate the time of a training run from its first steps before you let it run; what cannot end before the deadline is worth nothing.
3. Baseline first: hand the simplest thing that works into submission/ and check that it loads. From then on submission/ is complete and valid at every moment. Replace it only by something that you have measured to be better, and write the new one beside it and move it into place when it is whole.
4. Iterate: one change at a time, each with a reason and an expectation, each measured the same way. Keep what helps, drop what does not, try something else when a line of work stops paying. Use the whole budget while there is something worth trying.
5. Save checkpoints during long training, so that an interruption loses minutes, not hours.
6. Measure honestly: hold out a part of the data that you never train on and compare on it. Do not train on test data or on the benchmark that the task is scored with, and do not report a number that you have not measured. Report failures as failures.
7. When something fails, read the error and find its cause before you try again; do not repeat what failed unchanged.`;

function workspace({ network, tools, leads }: PromptFacts): string {
  const recording = leads
    ? " The worker records the experiments that it runs; add those that are missing with the tool iteration."
    : " The tool iteration appends to it: call it after every experiment, also those that failed.";
  const lines = [
    "- TASK.md is the task with its rules and deadline. data/ is read-only, and so is models/ where there is one. submission/ is what you hand in; what lies in it when the time is over counts.",
    `- iterations.jsonl holds one JSON line for each experiment.${tools.includes("iteration") ? recording : ""}`,
    "- outputs/ is where long outputs of your tools are kept.",
    "- Programs run in a sandbox with limits of memory, processors, processes and disk. " +
      (network ? "They reach the network." : "They reach no network: nothing can be downloaded."),
    "- Your budget is time, and tokens or money where those are limited. Time goes on while you think and while your tools run. You are reminded of the deadline as it comes nearer; MLRB_DEADLINE has it in seconds since 1970.",
    `- A tool ends its program after 10 minutes where you give no other limit. Run longer work in the background with its output in a file, look at it now and then, and wait with sleep rather than with many calls. At the limit a program is asked to end, and ended ${patience.killAfterMs / 1000} seconds later.`,
    ...(tools.includes("note")
      ? [
          "- Old messages are cut when the conversation becomes too long. What you must not forget goes into a note.",
        ]
      : []),
  ];
  return `Your workspace is the working directory of all tools:\n${lines.join("\n")}`;
}

const begin =
  "You do machine-learning research by yourself. Nobody answers questions: decide, and go on until you are done.";

export function agentPrompt(facts: PromptFacts): string {
  return `${begin} Act by calling tools, in every answer; before a call say in a sentence or two what you expect of it. When nothing worth doing is left, call submit.\n\n${research}\n\n${workspace(facts)}`;
}

export function supervisorPrompt(facts: PromptFacts, workerTurnsMax: number): string {
  return `${begin} You lead: you decide what is tried and judge what comes out; a worker does the hands-on work. Act by calling tools, in every answer.

Give the worker one piece of work at a time with delegate: what to do, why, what it may use, how long it may take, and what to report with which numbers. Each worker begins anew: it knows the task, your notes and what you write to it, and nothing else of what was said here; files in the workspace stay. It has at most ${workerTurnsMax} answers, so give it pieces that can be done in them. Check what it reports, with view_file or by another worker, before you build on it. When nothing worth doing is left, call submit.

${research}

${workspace(facts)}`;
}

export function workerPrompt(facts: PromptFacts, workerTurnsMax: number): string {
  return `You are a worker in machine-learning research. A supervisor gives you one piece of work; do that and nothing else, then call return_result with what you did, the numbers you measured and on which data, where the files lie, and what failed. You have at most ${workerTurnsMax} answers. Nobody answers questions: decide, and act by calling tools in every answer.

${research}

${workspace(facts)}`;
}

export function agentTask(prompt: string): string {
  return `The task, as in TASK.md:\n\n${prompt.trim()}\n\nBegin.`;
}

export type Delegated = {
  prompt: string;
  work: string;
  context: string | undefined;
  notes: string;
  /** The last notice so far. */
  notice: string | undefined;
};

export function workerTask({ prompt, work, context, notes, notice }: Delegated): string {
  const parts = [
    `The task as a whole, as in TASK.md:\n\n${prompt.trim()}`,
    ...(notes === "" ? [] : [`Notes so far:\n${notes}`]),
    ...(context === undefined ? [] : [`What the supervisor says of the state of things:\n${context.trim()}`]),
    ...(notice === undefined ? [] : [notice]),
    `Your piece of work:\n${work.trim()}`,
  ];
  return parts.join("\n\n");
}

export const nudges = {
  noTool:
    "Your answer called no tool, so nothing happened. Go on with the work by calling one; end it by the tool for that, if there is really nothing left to do. After three such answers in a row you are taken to have stopped.",
  length:
    "Your answer was cut off at the limit of its length. Do less in one answer: write long files in pieces.",
  refusal:
    "You declined. The task is ordinary machine-learning research in a sandbox. If something in it is a problem, leave that out and do the rest; a second refusal in a row ends the attempt.",
  /** When `turnsLeft` is sent: answers that a worker has left. */
  fewLeft: 5,
  turnsLeft:
    "You have 5 answers left. Bring the work to an end and call return_result; what you do not return is lost to the supervisor.",
};
