// Runs an agent that is our loop around a model: the loop stands outside of the sandbox, beside the keys, and
// everything that the model wants done is done inside. A replayed attempt is the same loop, with a recording in
// the model's place.
import type { ModelSpec, ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { aiSdkClient } from "../model/ai-sdk-client.ts";
import { askModel } from "../model/ask-model.ts";
import type { ModelClient } from "../model/model-client.ts";
import { priceBook } from "../model/prices.ts";
import { holdAtDeadlineMs, providerSilence } from "../model/provider-silence.ts";
import { type Recording, readRecording } from "../record/recording.ts";
import { replayClient } from "../record/replay-client.ts";
import { type DigestRequest, requestDigest } from "../record/request-digest.ts";
import { deadlineNotices } from "../scaffold/notices.ts";
import { scaffolds } from "../scaffold/scaffolds.ts";
import type { AttemptRequest } from "./attempt-request.ts";
import { type Supervision, supervise } from "./supervise.ts";
import type { Ending } from "./watch-program.ts";
import { agentEnvironment, inside } from "./workspace.ts";

export type PreparedScaffold = {
  /** What it is made of, for the trajectory's first line. */
  facts: { model: ModelSpec; scaffold: ScaffoldSpec };
  /** Whether the workspace has the file with the deadline: a replay's has it if the recording's had. */
  tellsDeadline: boolean;
  run(
    supervision: Supervision,
    given: { prompt: string; shownDeadline: string },
  ): Promise<{ ending: Ending; wallMs: number; workingMs: number }>;
};

/** Undefined for agents that are no loop around a model. Throws, with the way out, where one cannot be had. */
export async function prepareScaffold(request: AttemptRequest): Promise<PreparedScaffold | undefined> {
  const made = await partsOf(request);
  if (!made) return undefined;
  const { model, scaffold, clientOf, reminders, tellsDeadline = true } = made;
  const { prices = priceBook([]) } = request;
  return {
    facts: { model, scaffold },
    tellsDeadline,
    run(supervision, { prompt, shownDeadline }) {
      const { sandbox, meter, trajectory } = supervision;
      const env = agentEnvironment(sandbox, request, meter.deadline());
      const digestOf = requestDigest(
        { provider: model.provider, id: model.id },
        {
          deadline: shownDeadline,
          deadlineSeconds: env.MLRB_DEADLINE!,
          workspace: sandbox.seenAs(inside.workspace),
        },
      );
      const over = new AbortController();
      const silence = providerSilence({ budgetMs: request.budget.timeMs });
      return supervise(request, supervision, () => ({
        stop: () => over.abort(new Error("the attempt is over")),
        lostAtDeadline: () =>
          silence.untilDeadline(request.holdMs ?? holdAtDeadlineMs(request.budget.timeMs)),
        running: (async (): Promise<Ending> => {
          const end = await scaffolds[scaffold.kind]({
            spec: scaffold,
            model,
            prompt,
            sandbox,
            scratch: request.scratch,
            cwd: sandbox.seenAs(inside.workspace),
            env,
            network: request.network ?? false,
            meter,
            ask: askModel({
              client: clientOf(digestOf),
              meter,
              silence,
              dollarsOf: (usage) => (model.free ? 0 : prices.dollarsOf(usage, model.provider, model.id)),
              ...(model.maxOutputTokens !== undefined && { outputTokensMax: model.maxOutputTokens }),
              digest: (asked) => digestOf(asked).digest,
              write: trajectory.add,
              signal: over.signal,
              ...(request.waits && {
                board: request.waits.board,
                desk: request.waits.desk,
                options: { patience: request.waits.patience },
              }),
            }),
            write: trajectory.add,
            signal: over.signal,
            noticesDue: remindersOf({ meter, write: trajectory.add, recorded: reminders }),
          });
          return { kind: "scaffold", end };
        })(),
      }));
    },
  };
}

type Parts = {
  model: ModelSpec;
  scaffold: ScaffoldSpec;
  clientOf(digestOf: DigestRequest): ModelClient;
  reminders?: Recording["reminders"];
  tellsDeadline?: boolean;
};

async function partsOf({ kind, llm, recording, agent }: AttemptRequest): Promise<Parts | undefined> {
  if (kind === "llm") {
    if (!llm)
      throw new Error(`agent "${agent}" is of kind llm and names no model; write \`model:\` in its preset`);
    const client = aiSdkClient(llm.model, () => llm.key);
    return { model: llm.model, scaffold: llm.scaffold, clientOf: () => client };
  }
  if (kind !== "replay") return undefined;
  if (recording === undefined)
    throw new Error(
      `agent "${agent}" is of kind replay and names no recording; write \`recording: FOLDER\` in its preset`,
    );
  const read = await readRecording(recording);
  if (typeof read === "string") throw new Error(`the recording of agent "${agent}": ${read}`);
  const { model, scaffold, reminders, tellsDeadline } = read;
  return {
    model: { ...model, free: true },
    scaffold,
    reminders,
    tellsDeadline,
    clientOf: (digestOf) => replayClient(read, digestOf),
  };
}

type Reminding = Pick<Supervision, "meter"> & {
  write: Supervision["trajectory"]["add"];
  recorded: Recording["reminders"] | undefined;
};

/** By the clock, and on record; a replay's come at the looks at which the recording's came. */
function remindersOf({ meter, write, recorded }: Reminding): () => string[] {
  const byClock = deadlineNotices(meter);
  let look = 0;
  return () => {
    look++;
    const due = recorded ? recorded.filter((one) => one.look === look).map(({ text }) => text) : byClock();
    for (const text of due) write({ event: "reminder", look, text });
    return due;
  };
}
