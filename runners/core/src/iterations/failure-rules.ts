// Finds failures of attempts by rules. Each rule reads the facts of an attempt and names who is responsible, the stage of
// research and the events that show it, or returns nothing. Rules that explain an attempt's end better come first. The
// sources of the patterns are in docs/measures/iterations.md. Models judge traces poorly (TRAIL, arXiv 2505.08638), so no
// model judges here.

import type { FailureOwner } from "@mlrb/formats/attempt/failure-owner";
import type { Failure, IterationRecord, Where } from "@mlrb/formats/attempt/iterations";
import { type AttemptFacts, budgetEnds } from "./attempt-facts.ts";
import { errorStage, outOfMemory } from "./error-stage.ts";
import { higherIsBetter } from "./printed-values.ts";

export type Known = {
  facts: AttemptFacts;
  iterations: IterationRecord[];
  /** Whether a snapshot is admitted, by its name; undefined if admission was not run. */
  admitted: (snapshot: string) => boolean | undefined;
};

type FailureFinding = { whose: FailureOwner; where: Where; detail: string; evidence: number[] };
/** False, null or undefined: not found. */
type Rule = (known: Known) => FailureFinding | false | null | undefined;

const agent = (where: Where, detail: string, evidence: number[]): FailureFinding => ({
  whose: "agent-error",
  where,
  detail,
  evidence,
});
const budget = (where: Where, detail: string, evidence: number[]): FailureFinding => ({
  ...agent(where, detail, evidence),
  whose: "agent-budget",
});

const counted = ({ iterations }: Known) => iterations.filter(({ counts }) => counts);
const submittedNothing = ({ facts }: Known) =>
  facts.submitted.length === 0 && (facts.final === null || facts.final.files === 0);
const overBudget = ({ facts }: Known) => facts.exit?.how === "time-limit" || budgetEnds.test(facts.ended);
/** Whether the agent's model or tool calls are seen: a script that ends has not given up. */
const thinks = ({ facts }: Known) => facts.modelCalls > 0 || facts.toolCalls > 0;
const usedShare = ({ facts }: Known) => (facts.budgetMs ? facts.endMs / facts.budgetMs : 1);

const rules: Record<string, Rule> = {
  "sandbox-lost": ({ facts }) =>
    facts.sandboxLost && {
      ...agent("cannot-tell", "its sandbox ended", [facts.sandboxLost.at]),
      whose: "sandbox",
    },
  "call-given-up": ({ facts: { givenUp } }) => {
    const whose = (["provider", "harness", "operator", "sandbox", "verifier"] as const).find(
      (one) => one === givenUp?.whose,
    );
    if (!givenUp || !whose) return undefined;
    const detail = `the last model call was given up: ${givenUp.cause}`;
    return { ...agent("cannot-tell", detail, [givenUp.at]), whose };
  },
  refused: ({ facts: { refusal, ended, phase } }) =>
    refusal &&
    ended === "refusal" && {
      ...agent(phase, "the model refused the task", [refusal.at]),
      whose: "agent-refusal",
    },
  "endless-loop": ({ facts: { repeats, phase } }) =>
    repeats.most >= 4 &&
    agent(phase, `the same call with the same result ${repeats.most + 1} times in a row`, repeats.evidence),
  "malformed-calls": ({ facts: { malformed } }) =>
    malformed.most >= 3 &&
    agent("implement", `${malformed.most} malformed tool calls in a row`, malformed.evidence),
  "no-recovery": (known) => {
    if (counted(known).length > 0) return undefined;
    const worst = [...known.facts.failing.values()].sort((a, b) => b.evidence.length - a.evidence.length)[0];
    if (!worst || worst.evidence.length < 3) return undefined;
    const { where, evidence } = worst;
    return agent(where, `one command failed ${evidence.length} times and never succeeded`, evidence);
  },
  "out-of-memory": (known) => {
    const { facts } = known;
    const ended = facts.exit !== null && !(facts.exit.how === "exited" && facts.exit.code === 0);
    if (!ended && !facts.lastRun?.failed && !submittedNothing(known)) return undefined; // it recovered
    const at = facts.outOfMemory?.at ?? (facts.exit?.over === "memory" ? facts.exit.at : undefined);
    return at === undefined ? undefined : agent("train", "it ran out of memory and did not recover", [at]);
  },
  "program-crashed": ({ facts: { exit, said, phase } }) => {
    if (!exit || outOfMemory.test(said) || exit.how === "lost" || exit.how === "time-limit") return undefined;
    if (exit.how === "exited" && (exit.code ?? 0) === 0) return undefined;
    const lost = exit.how === "exited" ? `exit code ${exit.code}` : "a signal";
    return agent(
      errorStage(said, undefined) ?? (phase === "understand" ? "cannot-tell" : phase),
      `its program ended with ${lost}`,
      [exit.at],
    );
  },
  "no-checkpoint": (known) => {
    const { facts } = known;
    const training = [...facts.unanswered.values()].find(({ kind }) => kind === "train");
    const printedLoss = facts.toolCalls === 0 && facts.loss ? { at: facts.loss.at } : undefined;
    const going = training ?? printedLoss;
    if (!overBudget(known) || !submittedNothing(known) || !going) return undefined;
    return budget("train", "its budget ended during training, with nothing submitted", [going.at]);
  },
  "no-plan-for-the-limit": (known) => {
    const { facts } = known;
    if (!overBudget(known) || !submittedNothing(known)) return undefined;
    const where =
      /^(token|dollar|turn)-limit$/.test(facts.ended) && facts.phase !== "understand" ? facts.phase : "plan";
    return budget(where, "its budget ended before it submitted anything", [facts.lastIndex]);
  },
  "corrupted-at-the-end": (known) => {
    const { facts, admitted } = known;
    const { final, submitted } = facts;
    if (!final || submitted.length === 0) return undefined;
    const wasGood = submitted.some(({ name }) => admitted(name) === true);
    const lostWeights = final.gone.some((path) => /\.(safetensors|bin|pt|pth|gguf)$/.test(path));
    const spoilt =
      admitted("final") === undefined
        ? lostWeights || final.torn > 0 || final.files === 0
        : !admitted("final");
    if (!spoilt || (admitted("final") !== undefined && !wasGood)) return undefined;
    return agent("submit", "an earlier snapshot held a model and the last one does not", [
      submitted.at(-1)!.at,
      final.at,
    ]);
  },
  "unsupported-claim": ({ iterations, facts }) => {
    if (facts.clipped || facts.toolCalls === 0) return undefined; // the cut part may have held the value
    const claims = iterations.filter(({ source, metric }) => source === "agent" && metric?.value != null);
    const baseless = claims.filter(
      ({ executed, measured, metric }) => !executed || !isClose(measured, metric!.value!),
    );
    if (baseless.length === 0) return undefined;
    return agent(
      "evaluate",
      `${baseless.length} of ${claims.length} claimed values were printed by no program`,
      baseless.map(({ events }) => events[1]),
    );
  },
  diverged: ({ facts: { notFinite, loss } }) => {
    if (notFinite) return agent("train", "the loss was not a number at the end", [notFinite.at]);
    const rose = loss && loss.count >= 3 && loss.last > loss.first;
    return rose ? agent("train", `the loss rose from ${loss.first} to ${loss.last}`, [loss.at]) : undefined;
  },
  "over-optimism": (known) => {
    const { lastWords, lastRun } = known.facts;
    if (!lastWords || !lastRun?.failed || !reportsSuccess(lastWords.text)) return undefined;
    return agent("interpret", "it reported success after its last run had failed", [
      lastRun.at,
      lastWords.at,
    ]);
  },
  "worse-was-kept": (known) => {
    const values = comparable(known);
    if (values.length < 2 || values.at(-1)!.gain >= best(values).gain) return undefined;
    const last = values.at(-1)!;
    const restored = wasPutBack(known.facts);
    if (restored || plateau(values)) return undefined;
    return agent("decide", `it submitted ${last.value} after it had reached ${best(values).value}`, [
      best(values).at,
      last.at,
    ]);
  },
  "nothing-handed-in": (known) =>
    submittedNothing(known) && agent("submit", "it ended with nothing submitted", [known.facts.lastIndex]),
  "not-admitted": ({ facts, admitted }) =>
    facts.final &&
    admitted("final") === false &&
    agent("submit", "its submission cannot be loaded", [facts.final.at]),
  "not-evaluated": ({ facts }) =>
    facts.trained &&
    !facts.evaluated &&
    agent("evaluate", "it submitted a model that it never measured", [facts.trained.at]),
  "no-iteration-after-the-first": (known) => {
    const done = counted(known);
    if (!thinks(known) || overBudget(known) || done.length > 1 || usedShare(known) > 0.5) return undefined;
    return agent(
      "decide",
      `it stopped after ${done.length} iterations with over half of its time left`,
      done.length === 0 ? [known.facts.lastIndex] : done.map(({ events }) => events[1]),
    );
  },
  plateau: (known) => {
    const values = comparable(known);
    const evidence = values.slice(-3).map(({ at }) => at);
    const detail = "three iterations in a row were no better than the best before";
    return plateau(values) && agent("decide", detail, evidence);
  },
  "secrets-sought": ({ facts: { secrets } }) =>
    secrets.length > 0 && agent("cannot-tell", "its programs looked for keys or for others' data", secrets),
};

export const failurePatterns = Object.keys(rules);

/** Every failure that a rule finds, the best explanation of the end first. */
export function failuresOf(known: Known): Failure[] {
  return Object.entries(rules).flatMap(([pattern, rule]) => {
    const found = rule(known);
    return found ? [{ pattern, ...found, evidence: found.evidence.slice(0, 20) }] : [];
  });
}

/** Words of success in a sentence without a negation: "unsuccessful" and "not complete" report none. */
function reportsSuccess(text: string): boolean {
  return text
    .split(/[.!?;\n]+/)
    .some(
      (sentence) =>
        /\b(success\w*|completed?|achiev\w*|finished|excellent)\b/i.test(sentence) &&
        !/\b(not|no|never|without|fail\w*|could\s*n.t|did\s*n.t|was\s*n.t|can\s*n.t|cannot|if|to (complete|achieve|finish))\b/i.test(
          sentence,
        ),
    );
}

type Value = { value: number; gain: number; at: number };

/** Values of the metric of the first iteration with one; a higher gain is better. Empty if the direction is unknown. */
function comparable(known: Known): Value[] {
  const done = counted(known).filter(({ metric }) => metric?.value != null);
  const name = done[0]?.metric?.name;
  const up = name === undefined ? undefined : higherIsBetter(name);
  if (up === undefined) return [];
  return done
    .filter(({ metric }) => metric!.name === name && metric!.split === done[0]!.metric!.split)
    .map(({ metric, events }) => ({
      value: metric!.value!,
      gain: up ? metric!.value! : -metric!.value!,
      at: events[1],
    }));
}

/** Whether the final submission is an earlier one that was restored after another. */
function wasPutBack({ submitted, final }: AttemptFacts): boolean {
  const digests = [...new Set(submitted.map(({ digest }) => digest))];
  return final !== null && digests.includes(final.digest) && digests.at(-1) !== final.digest;
}

const best = (values: Value[]) => values.reduce((a, b) => (b.gain > a.gain ? b : a));

function plateau(values: Value[]): boolean {
  if (values.length < 4) return false;
  const before = best(values.slice(0, -3));
  return values.slice(-3).every(({ gain }) => gain <= before.gain);
}

function isClose(measured: number | null, claimed: number): boolean {
  return measured !== null && Math.abs(measured - claimed) <= 0.01 * Math.max(1, Math.abs(claimed));
}
