// What the cache knows of two scores: which parts of their keys differ, back to the attempt, and their samples. An entry
// counts only if it holds the number that the report prints.
import type { Reason } from "@mlrb/core/key/reasons";
import { reasonWords } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { score } from "@mlrb/formats/judged/score";
import type { Reading } from "@mlrb/formats/read-format";
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

/** `keyOf`: of either side, by stage instance. */
export class ScoreEvidence implements ChangeEvidence {
  readonly #plan: Plan;
  readonly #workspace: Workspace;
  readonly #sides: Sides;
  readonly #keyOf: Record<Side, KeyOf>;
  readonly #scores: Map<string, Instance>;
  /** By plan index: whether it is an attempt, or made from one. */
  readonly #ofAttempt: boolean[] = [];

  constructor(of: { plan: Plan; workspace: Workspace; sides: Sides; keyOf: Record<Side, KeyOf> }) {
    this.#plan = of.plan;
    this.#workspace = of.workspace;
    this.#sides = of.sides;
    this.#keyOf = of.keyOf;
    const { instances } = of.plan;
    this.#scores = new Map(
      instances.filter(({ stage }) => stage.role === "score").map((one) => [placeOf(one.axes), one]),
    );
    for (const { index, stage, inputs } of instances)
      this.#ofAttempt[index] = stage.durable || inputs.some(({ from }) => this.#ofAttempt[from]);
  }

  keys(place: ScorePlace): KeyChange[] | undefined {
    const instance = this.#instance(place);
    const old = instance && this.#scoreEntry("old", place, instance);
    const now = instance && this.#scoreEntry("now", place, instance);
    return old && now ? this.#changes(instance!, { old, now }, new Set()) : undefined;
  }

  samples(side: Side, place: ScorePlace): Reading<string> {
    const instance = this.#instance(place);
    const entry = instance && this.#scoreEntry(side, place, instance);
    const digest = entry?.outputs.samples?.digest;
    const text = digest === undefined ? undefined : ifReadable(() => this.#workspace.store.textOf(digest));
    return text === undefined
      ? { kind: "unreadable", cause: `the ${side === "old" ? "old" : "new"} samples are not stored here` }
      : { kind: "ok", value: text };
  }

  #instance(place: ScorePlace): Instance | undefined {
    return this.#scores.get(placeOf(axesOf(place)));
  }

  #entry(side: Side, { id }: Instance): ActionEntry | undefined {
    const key = this.#keyOf[side](id);
    return key === undefined ? undefined : this.#workspace.actions.get(key);
  }

  /** Undefined if the entry holds another score than the report prints: another run has made it. */
  #scoreEntry(side: Side, place: ScorePlace, instance: Instance): ActionEntry | undefined {
    const entry = this.#entry(side, instance);
    const digest = entry?.outputs.score?.digest;
    if (!entry || digest === undefined) return undefined;
    const text = ifReadable(() => this.#workspace.store.textOf(digest));
    const reading = text === undefined ? undefined : readPlain(score, text);
    if (reading?.kind !== "ok") return undefined;
    const printed = scoreIn(this.#sides[side], place);
    const { value } = reading;
    const numberOf = (one: { kind: string; value?: number }) =>
      one.kind === "scored" ? one.value : undefined;
    return printed && printed.kind === value.kind && numberOf(printed) === numberOf(value)
      ? entry
      : undefined;
  }

  /** The changes of `instance` and of what it was made from, up to the attempt, which has its own cause. */
  #changes(instance: Instance, { old, now }: Pair, seen: Set<number>): KeyChange[] {
    if (seen.has(instance.index)) return [];
    seen.add(instance.index);
    const bound = { parts: now.parts, codeFiles: this.#codeFiles(now) };
    const before = { parts: old.parts, codeFiles: this.#codeFiles(old) };
    const reasons = differences(instance, bound, { plan: this.#plan, before });
    return reasons.flatMap((reason) => {
      if (reason.kind === "never-succeeded") return [];
      const input =
        reason.kind === "input-changed" && instance.inputs.find(({ name }) => name === reason.input);
      if (input && this.#ofAttempt[input.from]) return this.#upstream(input, { old, now }, seen);
      return [this.#change(instance, reason, { old, now })];
    });
  }

  #upstream({ name, from, output }: Instance["inputs"][number], pair: Pair, seen: Set<number>): KeyChange[] {
    const producer = this.#plan.instances[from]!;
    if (producer.stage.durable) return [];
    const entryOf = (side: Side) => {
      const entry = this.#entry(side, producer);
      return entry?.outputs[output]?.digest === pair[side].parts.inputs[name] ? entry : undefined;
    };
    const [old, now] = [entryOf("old"), entryOf("now")];
    if (old && now) return this.#changes(producer, { old, now }, seen);
    const digests = { old: pair.old.parts.inputs[name] ?? null, now: pair.now.parts.inputs[name] ?? null };
    return [{ stage: producer.stage.name, words: `it is not stored how ${output} was made`, ...digests }];
  }

  #change({ stage }: Instance, reason: Reason, { old, now }: Pair): KeyChange {
    const part = (entry: ActionEntry) => partOf(reason, entry, this.#codeFiles(entry));
    return { stage: stage.name, words: reasonWords(reason), old: part(old), now: part(now) };
  }

  #codeFiles({ codeFiles }: ActionEntry): Record<string, string> {
    const read = () => JSON.parse(this.#workspace.store.textOf(codeFiles)) as Record<string, string>;
    return ifReadable(read) ?? {};
  }
}

function axesOf({ task, agent, seed, metric }: ScorePlace): Instance["axes"] {
  return { task, agent, seed, scorer: metric };
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
