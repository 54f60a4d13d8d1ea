// Runs an agent that is our loop around a model. The loop runs outside the sandbox, where the keys are. Everything
// that the model asks for runs inside. A replayed attempt is the same loop with a recording instead of the model.
import type { ModelSpec, ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { askModel } from "../model/ask-model.ts";
import type { ModelClient } from "../model/model-client.ts";
import { type DigestRequest, requestDigest } from "../record/request-digest.ts";
import { Tape } from "../resume/tape.ts";
import { interventionNotice, noticesOf, restartNotice } from "../scaffold/notices.ts";
import { scaffolds } from "../scaffold/scaffolds.ts";
import { outputTokensMaxOf } from "../spending/call-charge.ts";
import { priceBook } from "../spending/prices.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { type Replay, replayParts } from "./replay-parts.ts";
import { look, type Started, type SupervisedRun, supervise } from "./supervise.ts";
import type { AgentSupervision, Supervision } from "./supervision.ts";
import type { Ending } from "./watch-program.ts";
import { agentEnvironment, inside } from "./workspace.ts";

export type ScaffoldParts = {
  model: ModelSpec;
  scaffold: ScaffoldSpec;
  clientOf(model: ModelSpec, digestOf: DigestRequest): ModelClient;
  replay?: Replay;
};

export type Shown = { prompt: string; shownDeadline: string };

export function runScaffold(
  parts: ScaffoldParts,
  supervision: Supervision,
  shown: Shown,
): Promise<SupervisedRun> {
  // by the clock of a recording, the files that a call left are there when the next answer is asked for
  const looks = () => look(supervision, { looking: Promise.resolve() });
  return supervise(supervision, () => startScaffold(parts, supervision, shown, looks));
}

/** `looks`: called before each answer of a replay by the clock of its recording. */
export function startScaffold(
  parts: ScaffoldParts,
  supervision: AgentSupervision,
  shown: Shown,
  looks?: () => Promise<void>,
): Started {
  const { model, scaffold } = parts;
  const { request, sandbox, meter, trajectory, counts, silence, member } = supervision;
  const { earlier, waits, prices = priceBook([]) } = request;
  const env = {
    ...agentEnvironment(sandbox, request, meter.deadline()),
    ...supervision.downloads?.env,
    ...member?.env,
  };
  const cwd = sandbox.seenAs(member?.folder ?? inside.workspace);
  const blanks = { deadline: shown.shownDeadline, deadlineSeconds: env.MLRB_DEADLINE!, workspace: cwd };
  const over = new AbortController();
  const { replay } = parts;
  const clock = replay?.clock;
  const tape = earlier && new Tape({ events: earlier.tape, attachments: request.outputs.attachments });
  const ask = (asked: ModelSpec) => {
    const digestOf = requestDigest({ provider: asked.provider, id: asked.id }, blanks);
    const outputTokensMax = outputTokensMaxOf(asked);
    const live = askModel({
      ...{ client: parts.clientOf(asked, digestOf), meter, silence, signal: over.signal, counts },
      dollarsOf: (usage) => (asked.free ? 0 : prices.dollarsOf(usage, asked.provider, asked.id)),
      ...(outputTokensMax !== undefined && { outputTokensMax }),
      digest: (sent) => digestOf(sent).digest,
      write: trajectory.add,
      ...(waits && { board: waits.board, desk: waits.desk, options: { patience: waits.patience } }),
      ...(clock && { options: { now: () => clock.nowMs } }),
    });
    const answer: typeof live = async (by, messages, tools) => {
      if (clock) await looks?.();
      return tape?.answer(by) ?? (await live(by, messages, tools));
    };
    return answer;
  };
  const begin = async (): Promise<Ending> => {
    const end = await scaffolds[scaffold.kind]({
      ...{ spec: scaffold, model, prompt: shown.prompt, sandbox, cwd, env, meter },
      scratch: request.scratch,
      network: request.network ?? false,
      ask: ask(model),
      ...(scaffold.planner && { askPlanner: ask(scaffold.planner) }),
      write: (event) => void (tape?.knows(event) || trajectory.add(event)),
      signal: over.signal,
      noticesDue: remindersOf(supervision, scaffold.kind, { recorded: replay?.reminders, tape }),
      ...{ tape, replay: replay?.toolsOf?.(sandbox), board: member?.board },
    });
    return { kind: "scaffold", end };
  };
  return { running: begin(), stop: () => over.abort(new Error("the attempt is over")), silence };
}

/** Undefined for other kinds of agents. Throws, with the way out, if the loop cannot be made. */
export async function scaffoldParts(request: AttemptRequest): Promise<ScaffoldParts | undefined> {
  const { kind, llm, agent } = request;
  if (kind === "llm") {
    if (!llm)
      throw new Error(`agent "${agent}" is of kind llm and names no model; write \`model:\` in its preset`);
    const { aiSdkClient } = await import("../model/ai-sdk-client.ts"); // 400 modules that only models need
    const clientOf = (model: ModelSpec) =>
      aiSdkClient(model, () => (model === llm.scaffold.planner ? llm.plannerKey : llm.key));
    for (const model of [llm.model, llm.scaffold.planner]) if (model) clientOf(model); // throws before the start
    return { model: llm.model, scaffold: llm.scaffold, clientOf };
  }
  return kind === "replay" ? await replayParts(request) : undefined;
}

/**
 * Due by the clock, and recorded. A replay gets its reminders at the same looks as its recording. After a restart
 * the first look that is not only played tells of it. What a person added comes once, in its order.
 */
export function remindersOf(
  {
    request: { earlier },
    meter,
    interventions,
    trajectory,
  }: Pick<AgentSupervision, "meter" | "interventions" | "trajectory"> & {
    request: Pick<AttemptRequest, "earlier">;
  },
  kind: ScaffoldSpec["kind"],
  { recorded, tape }: { recorded: Replay["reminders"] | undefined; tape: Tape | undefined },
): () => string[] {
  const told = toldBefore(earlier);
  let byClock = noticesOf(kind, meter, told.texts);
  let look = 0;
  let restartTold = earlier === undefined;
  const recordedAt = (at: number, known: string[] = []) =>
    recorded!.flatMap((one) => (one.look === at && !known.includes(one.text) ? [one.text] : []));
  const add = (text: string, intervention?: number) => {
    trajectory.add({ event: "reminder", look, text, ...(intervention !== undefined && { intervention }) });
    return text;
  };
  const fromPeople = () =>
    interventions
      .all()
      .filter(({ number }) => !told.interventions.has(number))
      .map((one) => {
        told.interventions.add(one.number);
        byClock = noticesOf(kind, meter); // its shares come again
        return add(interventionNotice(one, meter), one.number);
      });
  return () => {
    look++;
    const known = tape?.reminders(look);
    if (known && !tape?.over) return known;
    const due = restartTold || !earlier ? [] : [add(restartNotice(earlier, meter))];
    restartTold = true;
    due.push(...fromPeople());
    due.push(...(recorded ? recordedAt(look, known) : byClock()).map((text) => add(text)));
    return [...(known ?? []), ...due];
  };
}

/** What the conversation had been told before a restart; of the notices by the clock, those since the last extension. */
function toldBefore(earlier: AttemptRequest["earlier"]): { texts: string[]; interventions: Set<number> } {
  const reminders = earlier?.tape.filter((event) => event.event === "reminder") ?? [];
  const last = reminders.findLastIndex(({ intervention }) => intervention !== undefined);
  return {
    texts: reminders.slice(last + 1).map(({ text }) => text),
    interventions: new Set(reminders.flatMap(({ intervention }) => intervention ?? [])),
  };
}
