// What the cache knows of two scores: which parts of their keys differ, back to the attempt, and their samples. An
// entry counts only if it holds the number that the report prints.
import type { Reason } from "@mlrb/core/key/reasons";
import { reasonWords } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { score } from "@mlrb/formats/judged/score";
import type { Report } from "@mlrb/formats/report";
import { differences } from "@mlrb/local/decide/run-reasons";
import type { ActionEntry } from "@mlrb/local/store/action-cache";
import { ifReadable } from "@mlrb/local/store/if-readable";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { ChangeEvidence, KeyChange, ScorePlace, Sides } from "@mlrb/report/against/score-change";
import { readPlain } from "@mlrb/report/read/read-plain";
import { valueText } from "../show/shorten.ts";

type Side = "old" | "now";
type KeyOf = (stage: string) => string | undefined;
type Pair = Record<Side, ActionEntry>;

type Compared = { plan: Plan; workspace: Workspace; sides: Sides; keyOf: Record<Side, KeyOf> };

/** `keyOf`: of either side, by stage instance. */
export function scoreEvidence({ plan, workspace, sides, keyOf }: Compared): ChangeEvidence {
  const { instances } = plan;
  const { actions, store } = workspace;
  const scores = new Map(
    instances.filter(({ stage }) => stage.role === "score").map((one) => [placeOf(one.axes), one]),
  );
  /** By plan index: whether it is an attempt, or made from one. */
  const ofAttempt: boolean[] = [];
  for (const { index, stage, inputs } of instances)
    ofAttempt[index] = stage.durable || inputs.some(({ from }) => ofAttempt[from]);

  const instanceOf = ({ task, agent, seed, metric }: ScorePlace) =>
    scores.get(placeOf({ task, agent, seed, scorer: metric }));
  const textOf = (digest: string | undefined) =>
    digest === undefined ? undefined : ifReadable(() => store.textOf(digest));
  const codeFilesOf = ({ codeFiles }: ActionEntry) =>
    ifReadable(() => JSON.parse(store.textOf(codeFiles)) as Record<string, string>) ?? {};

  function entryOf(side: Side, { id }: Instance): ActionEntry | undefined {
    const key = keyOf[side](id);
    return key === undefined ? undefined : actions.get(key);
  }

  /** Undefined if the entry holds another score than the report prints: another run has made it. */
  function scoreEntry(side: Side, place: ScorePlace): ActionEntry | undefined {
    const instance = instanceOf(place);
    const entry = instance && entryOf(side, instance);
    const text = textOf(entry?.outputs.score?.digest);
    const reading = text === undefined ? undefined : readPlain(score, text);
    if (reading?.kind !== "ok") return undefined;
    const printed = scoreIn(sides[side], place);
    const { value } = reading;
    const numberOf = (one: { kind: string; value?: number }) =>
      one.kind === "scored" ? one.value : undefined;
    return printed?.kind === value.kind && numberOf(printed) === numberOf(value) ? entry : undefined;
  }

  /** The changes of `instance` and of what it was made from, up to the attempt, which has its own cause. */
  function changesOf(instance: Instance, { old, now }: Pair, seen: Set<number>): KeyChange[] {
    if (seen.has(instance.index)) return [];
    seen.add(instance.index);
    const codeFiles = { old: codeFilesOf(old), now: codeFilesOf(now) };
    const before = { parts: old.parts, codeFiles: codeFiles.old };
    const reasons = differences(instance, { parts: now.parts, codeFiles: codeFiles.now }, { plan, before });
    return reasons.flatMap((reason) => {
      if (reason.kind === "never-succeeded") return [];
      const input =
        reason.kind === "input-changed" && instance.inputs.find(({ name }) => name === reason.input);
      if (input && ofAttempt[input.from]) return upstream(input, { old, now }, seen);
      const parts = { old: partOf(reason, old, codeFiles.old), now: partOf(reason, now, codeFiles.now) };
      return [{ stage: instance.stage.name, words: reasonWords(reason), ...parts }];
    });
  }

  function upstream({ name, from, output }: Instance["inputs"][number], pair: Pair, seen: Set<number>) {
    const producer = instances[from]!;
    if (producer.stage.durable) return [];
    const madeIn = (side: Side) => {
      const entry = entryOf(side, producer);
      return entry?.outputs[output]?.digest === pair[side].parts.inputs[name] ? entry : undefined;
    };
    const [old, now] = [madeIn("old"), madeIn("now")];
    if (old && now) return changesOf(producer, { old, now }, seen);
    const digests = { old: pair.old.parts.inputs[name] ?? null, now: pair.now.parts.inputs[name] ?? null };
    return [{ stage: producer.stage.name, words: `it is not stored how ${output} was made`, ...digests }];
  }

  return {
    keys(place) {
      const [old, now] = [scoreEntry("old", place), scoreEntry("now", place)];
      return old && now ? changesOf(instanceOf(place)!, { old, now }, new Set()) : undefined;
    },
    samples(side, place) {
      const text = textOf(scoreEntry(side, place)?.outputs.samples?.digest);
      return text === undefined
        ? { kind: "unreadable", cause: `the ${side === "old" ? "old" : "new"} samples are not stored here` }
        : { kind: "ok", value: text };
    },
  };
}

function placeOf({ task, agent, seed, scorer }: Instance["axes"]): string {
  return JSON.stringify([task, agent, seed, scorer]);
}

function scoreIn({ attempts }: Report, { task, agent, seed, metric }: ScorePlace) {
  return attempts.find((one) => one.task === task && one.agent === agent && one.seed === seed)?.scores[
    metric
  ];
}

/** The digest that a reason is about, or a value of the key in words; null where the entry has none. */
function partOf(reason: Reason, { parts }: ActionEntry, codeFiles: Record<string, string>): string | null {
  switch (reason.kind) {
    case "code-changed":
      return codeFiles[reason.file] ?? parts.code[reason.file] ?? null;
    case "file-changed":
      return parts.files[reason.file] ?? null;
    case "input-changed":
      return parts.inputs[reason.input] ?? null;
    case "params-changed":
      return values(reason.names, { ...parts.axes, ...parts.params });
    case "env-changed":
      return values(reason.names, { ...parts.agentEnv, ...parts.env });
    case "service-changed":
      return values(reason.names, parts.services ?? {});
    case "environment-changed":
      return parts.environment;
    case "image-changed":
      return parts.image ?? null;
    case "host-changed":
      return parts.host && valueText(parts.host, valueMax);
    default:
      return null; // the reason itself names the whole difference
  }
}

const valueMax = 60;

function values(names: string[], of: Record<string, unknown>): string {
  return names.map((name) => valueText(of[name] ?? "none", valueMax)).join(", ");
}
