// From the collected manifest to what is known of each attempt, score and reference. A planned stage without a
// readable artifact stays in the report as missing, with its cause.

import type { MemberDecision } from "@mlrb/formats/attempt/adjudication";
import { iterationsFile } from "@mlrb/formats/attempt/iterations";
import { ledgerFile } from "@mlrb/formats/attempt/ledger";
import { type Calibration, calibration as calibrationFile } from "@mlrb/formats/judged/calibration";
import { type MemorisationFile, memorisation as memorisationFile } from "@mlrb/formats/judged/memorisation";
import { overlap as overlapFile } from "@mlrb/formats/judged/overlap";
import { kindOfRules, type RuleVerdict } from "@mlrb/formats/judged/verdict";
import { type Reading, readFormat } from "@mlrb/formats/read-format";
import type { Metric } from "@mlrb/formats/report";
import type { Attempt, AttemptCheckpoint, AttemptScore, AttemptVerdict } from "@mlrb/formats/report/attempt";
import type { Collected, Member } from "@mlrb/formats/stage/collected";
import { attemptOverlap } from "../compare/attempt-overlap.ts";
import {
  attemptMemorisation,
  falseAlarms,
  type TaskReference,
  taskReference,
} from "../compare/memorised-texts.ts";
import { markAttempts, readJudged } from "../judged/read-judged.ts";
import { ArtifactReader, contentOf, endOf } from "./artifact-reader.ts";
import { attemptCheckpoints } from "./attempt-checkpoints.ts";
import { attemptResearch } from "./attempt-research.ts";
import { checkNoneAuthoredBeside, checkOneCondition } from "./condition-words.ts";
import { decidedKind, plainDecisions } from "./decisions.ts";
import { bySeed, byText } from "./order.ts";
import {
  type FurtherRules,
  parseCheckpoint,
  parseKinship,
  parseReferences,
  parseScore,
  parseVerdict,
  type ReferenceRow,
  type Verdict,
} from "./parse-artifacts.ts";
import { plainText } from "./plain-text.ts";
import { type PlannedPlaces, placeKey, plannedPlaces, type Slot } from "./planned-places.ts";
import type { ReadSamples, ReadText } from "./read-artifact.ts";
import { readPlain } from "./read-plain.ts";
import { undecidedCause } from "./undecided-cause.ts";

export type Evidence = ReturnType<typeof readEvidence>;

/** Reads all but the samples. Throws as plannedPlaces does, and for attempts of two conditions. */
export function readEvidence(
  collected: Collected,
  metric: (scorer: string) => Metric,
  {
    read,
    readSamples,
    familyOf,
  }: { read: ReadText; readSamples: ReadSamples; familyOf: (agent: string) => string | null },
) {
  const plan = plannedPlaces(collected);
  const reader = new EvidenceReader(plan, metric, read);
  const tasks = [...plan.scorers]
    .map(([name, scorers]) => ({ name, scorers: [...scorers].sort(byText) }))
    .sort((a, b) => byText(a.name, b.name));
  const kinship = new Map(tasks.map(({ name }) => [name, reader.kinship(name)]));
  const memorisationOf = new Map(
    tasks.flatMap(({ name }) => {
      const reference = reader.reference(name);
      return reference ? [[name, reference] as const] : [];
    }),
  );
  const attempts = [...plan.slots.values()]
    .sort((a, b) => byText(a.task, b.task) || byText(a.agent, b.agent) || bySeed(a.seed, b.seed))
    .map((slot) => {
      const { scorers } = tasks.find(({ name }) => name === slot.task)!;
      return reader.attempt(slot, {
        ...{ scorers, kinship: kinship.get(slot.task)! },
        reference: memorisationOf.get(slot.task),
      });
    });
  const judged = readJudged(reader, familyOf);
  if (judged) markAttempts(attempts, judged);
  checkOneCondition(attempts);
  checkNoneAuthoredBeside(attempts);
  const references = new Map(
    tasks.flatMap(({ name, scorers }) =>
      scorers.map((scorer) => [placeKey([name, scorer]), reader.references(name, scorer)]),
    ),
  );
  return {
    tasks,
    agents: [...new Set(attempts.map((attempt) => attempt.agent))].sort(byText),
    attempts,
    references: (task: string, scorer: string) => references.get(placeKey([task, scorer]))!,
    /** An attempt's samples file; read on demand, because they are large. */
    samples: (attempt: Attempt, scorer: string) => reader.samples(attempt, scorer, readSamples),
    /** An attempt's score on public rows by `scorer`; undefined without one. */
    devValue: ({ task, agent, seed }: Attempt, scorer: Metric) =>
      reader.devValue({ task, agent, seed }, scorer),
    /** Of the host of the report; undefined if the pipeline has no stage for it, or without a result. */
    calibration: reader.calibration(),
    /** Undefined if the pipeline has no stage for it. */
    memorisation: memorisationOf.size > 0 ? falseAlarms(memorisationOf) : undefined,
    judged,
    gaps: reader.gaps.sort((a, b) => byText(a.stage, b.stage) || byText(a.cause, b.cause)),
  };
}

type AttemptContext = {
  scorers: string[];
  kinship: FurtherRules[];
  reference: TaskReference | undefined;
};

class EvidenceReader extends ArtifactReader {
  readonly #metric: (scorer: string) => Metric;

  constructor(plan: PlannedPlaces, metric: (scorer: string) => Metric, read: ReadText) {
    super(plan, read);
    this.#metric = metric;
  }

  attempt(slot: Slot, of: AttemptContext): Attempt {
    const { task, agent, seed } = slot;
    const member = this.find("attempt", task, agent, seed);
    const decisions = plainDecisions(member?.decisions ?? []);
    const verdict = this.#verdict(slot, of.kinship, decisions);
    const open = verdict.kind === "missing" ? undefined : undecidedCause(verdict.rules);
    const scores = Object.fromEntries(of.scorers.map((scorer) => [scorer, this.#score(slot, scorer, open)]));
    const iterations = this.find("iterations", task, agent, seed);
    const research =
      iterations && this.parsed(iterations, "iterations", (text) => readPlain(iterationsFile, text));
    const attempt = {
      task,
      agent,
      seed,
      verdict,
      submission: member?.artifacts.submission?.digest ?? null,
      actions:
        research?.kind === "ok" && research.value.kind === "found" ? (research.value.actions ?? null) : null,
      note: plainText(member?.note ?? ""),
      ...(member?.condition && { condition: member.condition }),
      ...this.#replay(member),
      ...(member?.budget && { budget: member.budget }),
      ...(member?.origin && { origin: member.origin }),
      ...(member?.weakLimits && { weakLimits: member.weakLimits }),
      ...(member?.skippedChecks && { skippedChecks: member.skippedChecks.map((one) => plainText(one)) }),
      ...(member?.undeclaredChecks && {
        undeclaredChecks: member.undeclaredChecks.map((one) => plainText(one)),
      }),
      ...(member?.gpus !== undefined && { gpus: plainText(member.gpus) }),
      ...(decisions.length > 0 && { decisions }),
      ...(member?.resumed !== undefined && { resumed: member.resumed }),
      ...(member?.interventions && { interventions: member.interventions }),
      scores,
      research: attemptResearch(research),
    };
    return {
      ...attempt,
      ...this.#memorisation(slot, of.reference),
      ...this.#overlap(slot),
      checkpoints: this.#checkpoints(attempt),
    };
  }

  /** Empty for an attempt of an agent, and if the ledger cannot be read, which other parts report. */
  #replay(member: Member | undefined): Pick<Attempt, "replay"> {
    const text = contentOf(member, "ledger", this.read);
    const ledger = text.kind === "ok" ? readFormat(ledgerFile, text.value) : text;
    return ledger.kind === "ok" && "replay" in ledger.value && ledger.value.replay
      ? { replay: ledger.value.replay }
      : {};
  }

  /** Empty if the pipeline has no stage for it. */
  #memorisation(
    { task, agent, seed }: Slot,
    reference: TaskReference = { kind: "unreadable", cause: "not planned" },
  ): Pick<Attempt, "memorisation"> {
    const member = this.find("memorisation", task, agent, seed);
    const found = member && this.#memorisationFile(member);
    return found ? { memorisation: attemptMemorisation(found, reference) } : {};
  }

  /** Empty if the pipeline has no stage for it. */
  #overlap({ task, agent, seed }: Slot): Pick<Attempt, "overlap"> {
    const member = this.find("overlap", task, agent, seed);
    const found = member && this.parsed(member, "overlap", (text) => readPlain(overlapFile, text));
    return found ? { overlap: attemptOverlap(found) } : {};
  }

  reference(task: string): TaskReference | undefined {
    const member = this.find("reference-memorisation", task);
    return member && taskReference(this.#memorisationFile(member));
  }

  #memorisationFile(member: Member): Reading<MemorisationFile> {
    return this.parsed(member, "memorisation", (text) => readPlain(memorisationFile, text));
  }

  calibration(): Calibration | undefined {
    const member = this.find("calibration");
    const found = member && this.parsed(member, "calibration", (text) => readPlain(calibrationFile, text));
    return found?.kind === "ok" ? found.value : undefined;
  }

  kinship(task: string): FurtherRules[] {
    const member = this.find("kinship", task);
    const found = member && this.parsed(member, "kinship", parseKinship);
    return found?.kind === "ok" ? found.value : [];
  }

  references(task: string, scorer: string): Reading<ReferenceRow[]> {
    const member = this.find("references", task, scorer);
    return this.parsed(member, "rows", (text) => parseReferences(text, scorer), "references");
  }

  devValue({ task, agent, seed }: Slot, metric: Metric): number | undefined {
    const member = this.find("dev-score", task, agent, seed);
    const found = this.parsed(member, "score", (text) => parseScore(text, metric), "dev score");
    return found.kind === "ok" && found.value.kind === "scored" ? found.value.value : undefined;
  }

  samples({ task, agent, seed }: Slot, scorer: string, read: ReadSamples): Reading<Uint8Array | string> {
    return contentOf(this.find("score", task, agent, seed, scorer), "samples", read);
  }

  #verdict(
    { task, agent, seed }: Slot,
    kinship: FurtherRules[],
    decisions: MemberDecision[],
  ): AttemptVerdict {
    const attempt = this.find("attempt", task, agent, seed);
    if (attempt && attempt.outcome !== "succeeded") return { kind: "missing", cause: endOf(attempt) };
    const verdict = this.parsed(this.find("verdict", task, agent, seed), "verdict", parseVerdict);
    if (verdict.kind !== "ok") return { kind: "missing", cause: verdict.cause };
    const further = kinship.find((each) => each.agent === agent && each.seed === seed)?.rules ?? [];
    const { kind: machine, ...found } = joined(verdict.value, further);
    return { ...found, kind: decidedKind(machine, found.rules, decisions), machine };
  }

  /** `open`: why the submission's settings are undecided, if they are. */
  #score({ task, agent, seed }: Slot, scorer: string, open: string | undefined): AttemptScore {
    const attempt = this.find("attempt", task, agent, seed);
    if (attempt && attempt.outcome !== "succeeded") return { kind: "not-measured", cause: endOf(attempt) };
    const score = this.#parsedScore(this.find("score", task, agent, seed, scorer), scorer);
    return score.kind === "ok" ? score.value : { kind: "not-measured", cause: open ?? score.cause };
  }

  #checkpoints(attempt: Omit<Attempt, "checkpoints">): AttemptCheckpoint[] {
    const { task, agent, seed } = attempt;
    const planned = [...(this.plan.checkpoints.get(task) ?? [])];
    const found = planned.map((checkpoint) => {
      const member = this.find("checkpoint", task, agent, seed, checkpoint);
      return {
        checkpoint,
        submission: member?.artifacts.contents?.digest ?? null,
        stood: this.parsed(member, "checkpoint", parseCheckpoint),
        scoreOf: (scorer: string) =>
          this.#parsedScore(this.find("checkpoint-score", task, agent, seed, checkpoint, scorer), scorer),
      };
    });
    return attemptCheckpoints(attempt, found);
  }

  #parsedScore(member: Member | undefined, scorer: string): Reading<AttemptScore> {
    return this.parsed(member, "score", (text) => parseScore(text, this.#metric(scorer)));
  }
}

/** A verdict with further rules, which may disqualify the attempt. */
function joined(verdict: Verdict, further: RuleVerdict[]): Verdict {
  const rules = [...verdict.rules, ...further];
  const isOpen = verdict.kind === "pass" || verdict.kind === "undecided";
  return { ...verdict, kind: isOpen ? kindOfRules(rules) : verdict.kind, rules };
}
