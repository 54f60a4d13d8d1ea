// The paper's scaffold (arXiv 2410.22553): a supervisor gives a worker one piece of work at a time and continues
// from its result. Every worker begins a new conversation with the task and the notes, so the supervisor's own
// stays short over a day of work.
import { closedObject, text } from "@mlrb/formats/schema";
import { chosenTools } from "./chosen-tools.ts";
import { clipWhole } from "./clip-text.ts";
import { converse, converseAlone, type Shared, sharedOf, type TalkEnd } from "./converse.ts";
import { agentTask, type PromptFacts, supervisorPrompt, workerPrompt, workerTask } from "./prompts.ts";
import type { Scaffold } from "./scaffold.ts";
import { failed, type Tool, type ToolResult, tool } from "./tool.ts";
import { boardTools } from "./tools/board.ts";
import { submit } from "./tools/submit.ts";

/** Model calls of one worker. */
const workerTurnsMax = 50;
const supervisorsOwn = ["note", "view_file", "iteration", ...boardTools.map(({ spec }) => spec.name)];
const textMax = 20_000;

export const supervisorWorker: Scaffold = async (request) => {
  const shared = sharedOf(request);
  const doing = chosenTools({ ...request.spec, ...request });
  const workers = workersOf(shared, [...doing, returnResult]);
  const tools = [
    delegate(workers),
    ...doing.filter(({ spec }) => supervisorsOwn.includes(spec.name)),
    submit,
  ];
  return await converseAlone(shared, {
    by: "supervisor",
    system: supervisorPrompt({ ...factsOf(shared, tools), leads: true }, workerTurnsMax),
    task: agentTask(request.prompt),
    tools,
  });
};

type Work = { task: string; context?: string };

const delegate = (work: (work: Work) => Promise<ToolResult>): Tool =>
  tool({
    name: "delegate",
    description:
      "Gives a new worker one piece of work, waits for it to end, and gives what it returns. It has shell, python and file tools in the same workspace.",
    input: closedObject(
      {
        task: {
          ...{ ...text, maxLength: textMax },
          description: "What to do, why, how long it may take, and what to report.",
        },
        context: {
          ...{ type: "string", maxLength: textMax },
          description: "What the worker must know of what was done before: files, numbers, what failed.",
        },
      },
      ["task"],
    ),
    restarted: "runs",
    run: work,
  });

const returnResult = tool({
  name: "return_result",
  description: "Ends your work and gives the supervisor your report.",
  input: closedObject(
    {
      summary: {
        ...{ ...text, maxLength: textMax },
        description: "What was done, what was measured on which data, where the files lie, what failed.",
      },
    },
    ["summary"],
  ),
  restarted: "runs",
  run: ({ summary }) => ({ outcome: "done", text: "returned", ends: { kind: "returned", summary } }),
});

function workersOf(shared: Shared, tools: Tool[]): (work: Work) => Promise<ToolResult> {
  const { request, world } = shared;
  let count = 0;
  return async ({ task: work, context }) => {
    const notes = world.notes.text();
    const end = await converse(shared, {
      by: `worker-${++count}`,
      system: workerPrompt(factsOf(shared, tools), workerTurnsMax),
      task: workerTask({ prompt: request.prompt, work, context, notes, notice: shared.notices.all.at(-1) }),
      tools,
      turnsMax: workerTurnsMax,
    });
    const result = resultOf(end);
    const notesNow = world.notes.text();
    const added = notesNow === notes ? "" : `\n\nThe notes now:\n${notesNow}`;
    const { text } = clipWhole(result.text, "the middle of this report is left out");
    return { ...result, text: `${text}${added}` };
  };
}

function factsOf({ request }: Shared, tools: Tool[]): PromptFacts {
  return { network: request.network, tools: tools.map(({ spec }) => spec.name), leads: false };
}

/** A worker that stops or refuses ends its piece of work. A used-up budget or a dead sandbox ends the attempt. */
function resultOf(end: TalkEnd): ToolResult {
  switch (end.kind) {
    case "returned":
      return { outcome: "done", text: end.summary };
    case "turns":
      return failed(
        `the worker used all of its ${workerTurnsMax} answers and returned nothing; its last words:\n${end.lastWords}`,
      );
    case "stopped":
    case "silent":
      return failed(`the worker stopped and returned nothing: ${end.detail}`);
    case "refused":
      return failed(`the worker declined: ${end.detail}`);
    case "submitted":
      throw new Error("bug: a worker handed in");
    case "agent-error":
    case "over-budget":
      return { ...failed(end.detail), ends: end };
  }
}
