// The CSV files of a report: one kind of row in each. A file's columns are the properties of its row, in this
// order. null is an empty cell.
import * as t from "../schema.ts";
import {
  countOrNull,
  flagOrNull,
  head,
  made,
  metric,
  ofAttempt,
  originOfMean,
  scale,
} from "./result-columns.ts";

const summary = t.wholeObject({
  ...head,
  task: t.anyText,
  agent: t.anyText,
  ...metric,
  mean: t.about(
    t.numberOrNull,
    "over all attempts that are not missing; failed ones and worse ones count as the trivial baseline",
  ),
  mean_reason: t.textOrNull,
  n: t.about(t.count, "attempts behind the mean"),
  planned: t.count,
  valid_mean: t.about(t.numberOrNull, "of the valid attempts, undecided ones included; empty: none"),
  valid_n: t.count,
  valid_ci_low: t.about(
    t.numberOrNull,
    "of the 95 % Student-t interval of valid_mean, cut to the metric's range. It is no interval of mean",
  ),
  valid_ci_high: t.numberOrNull,
  valid_ci_reason: t.textOrNull,
  pass_rate: t.about(t.numberOrNull, "valid_n / n; empty: nothing was measured"),
  pass_ci_low: t.about(t.numberOrNull, "of Wilson's 95 % interval of pass_rate; empty: no interval holds"),
  pass_ci_high: t.numberOrNull,
  ...{ disqualified: t.count, rejected: t.count },
  undecided: t.about(t.count, "valid attempts with an undecided rule"),
  below_baseline: t.about(t.count, "valid attempts worse than the trivial baseline, which count as it"),
  observations: t.about(t.count, "n with repeated attempts as one"),
  sd_attempts: t.about(t.numberOrNull, "sample standard deviation over valid attempts"),
  se_items: t.about(t.numberOrNull, "standard error of valid_mean over items, for these submissions"),
  se_items_kind: t.about(t.textOrNull, "exact, or at-most: an upper bound"),
  ...scale,
  baseline_name: t.about(t.textOrNull, "its row; empty: a number of task.yaml, or none"),
  ...{ reference_name: t.textOrNull, reference_kind: t.textOrNull },
  normalised_mean: t.about(t.numberOrNull, "on the scale from baseline (0) to reference (1)"),
  normalised_reason: t.textOrNull,
  origin: originOfMean,
});

const attempts = t.wholeObject({
  ...head,
  ...ofAttempt,
  ...made,
  machine_verdict: t.about(t.textOrNull, "the verdict without decisions of people; empty: missing"),
  reason: t.about(t.textOrNull, "broken and undecided rules with their evidence, or why it is missing"),
  note: t.about(t.textOrNull, "e.g. that it was accepted as stale"),
  gpus: t.about(t.textOrNull, "models of the GPUs that it held"),
  resumed: t.about(t.count, "how often it continued after its supervisor or host died"),
  interventions: t.about(t.textOrNull, "what people added or wrote to it; it is then in no mean"),
  parameters: t.about(t.numberOrNull, "of the stored weights"),
  bytes: t.about(t.numberOrNull, "of the stored weights"),
  architecture: t.about(t.textOrNull, "by which the model is loaded"),
  weights_from: t.about(t.textOrNull, "given and published models that the weights match, and downloads"),
  stated_base: t.about(t.textOrNull, "the agent's own words, not verified; like stated_data, stated_method"),
  ...{ stated_data: t.textOrNull, stated_method: t.textOrNull },
  research_reason: t.textOrNull,
  executed_iterations: t.about(countOrNull, "in which a program ran, and something changed or was measured"),
  distinct_valid_submissions: countOrNull,
  runs: t.about(countOrNull, "programs that the agent ran"),
  failed_runs: countOrNull,
  measured_runs: t.about(countOrNull, "runs that printed results in a known form"),
  benchmark_calls: t.about(countOrNull, "calls of a model that name the benchmark"),
  benchmark_names: t.textOrNull,
  limits_reached: t.about(t.textOrNull, "of its budget and its sandbox"),
  stated_metric: t.about(t.textOrNull, "the metric of most of its iterations"),
  ended_by: t.about(t.textOrNull, "what ended it and what it left, as recorded"),
  memorisation: t.about(
    t.numberOrNull,
    "bits per byte on private minus matched public texts, relative to a reference; it changes no number",
  ),
  memorisation_se: t.numberOrNull,
  memorisation_noted: t.about(flagOrNull, "whether it exceeds five standard errors"),
  memorisation_reason: t.textOrNull,
  overlap_rows: t.about(countOrNull, "tested rows of which enough n-grams occur in what the attempt held"),
  overlap_touched: t.about(countOrNull, "tested rows of which any n-gram occurs"),
  overlap_tested: t.about(countOrNull, "scored rows with n-grams that agents are not given"),
  overlap_unread: t.about(countOrNull, "files and folders that may hold text and were not read"),
  overlap_reason: t.textOrNull,
});

const scores = t.wholeObject({
  ...head,
  ...ofAttempt,
  ...metric,
  score: t.about(t.oneOf("scored", "rejected", "not-measured"), "whether there is a value"),
  value: t.about(t.numberOrNull, "as measured; also of disqualified attempts"),
  standard_error: t.about(t.numberOrNull, "over items, never over attempts"),
  items: countOrNull,
  counted: t.about(t.numberOrNull, "what enters the mean: the value, or the trivial baseline"),
  ...scale,
  normalised: t.about(t.numberOrNull, "counted on the scale from baseline (0) to reference (1), not clipped"),
  implausible: t.about(t.flag, "better than each reference model of like size by over five standard errors"),
  implausible_by: t.about(t.numberOrNull, "in standard errors, from the nearest; empty if both are 0"),
  best: t.about(t.flag, "best valid attempt of task and agent, on the primary metric; never compare"),
  ...made,
  machine_verdict: t.textOrNull,
  reason: t.about(t.textOrNull, "why there is no value, or why the attempt is not a pass"),
});

const checkpoints = t.wholeObject({
  ...head,
  ...ofAttempt,
  checkpoint: t.about(t.anyText, "on the pipeline's axis, e.g. 25%; the end is in scores.csv"),
  share: t.about(t.number, "of the budget"),
  metric: t.about(t.textOrNull, "empty if nothing was submitted yet"),
  primary: flagOrNull,
  unit: t.textOrNull,
  direction: t.textOrNull,
  score: t.about(t.oneOf("scored", "rejected", "not-measured", "none"), "none: nothing was submitted yet"),
  value: t.about(t.numberOrNull, "it does not count"),
  standard_error: t.numberOrNull,
  ...made,
  reason: t.about(t.textOrNull, "why there is no value"),
});

const comparisons = t.wholeObject({
  ...head,
  ...{ agent_a: t.anyText, agent_b: t.anyText },
  difference: t.about(t.numberOrNull, "mean over tasks of the normalised mean of A minus that of B"),
  ci_low: t.about(t.numberOrNull, "of its 95 % interval, from the inverted permutation test"),
  ci_high: t.numberOrNull,
  difference_tasks: countOrNull,
  difference_reason: t.about(t.textOrNull, "why there is no difference, or no interval"),
  superiority: t.about(t.numberOrNull, "P(A's attempt is better), ties half, mean over tasks"),
  ...{ superiority_ci_low: t.numberOrNull, superiority_ci_high: t.numberOrNull },
  p: t.about(t.numberOrNull, "two-sided permutation test of the labels within tasks; empty: not testable"),
  p_min: t.about(t.numberOrNull, "the smallest p that these values allow"),
  tasks: t.about(countOrNull, "tasks behind superiority and p"),
  origin: originOfMean,
});

const judgeAnswers = t.wholeObject({
  ...head,
  ...ofAttempt,
  judge: t.about(t.anyText, "provider and id of the model"),
  rubric: t.anyText,
  question: t.about(t.anyText, "with parts: QUESTION.PART"),
  answer: t.about(t.anyText, "of a strict majority of votes, else split; or cannot tell, unsupported"),
  votes: t.about(t.anyText, "how many votes gave each answer"),
  quotes: t.about(t.count, "quotes that are in the attempt's text and support an answer"),
  marks: t.about(t.flag, "whether the answer marks the attempt for a person; it changes no number"),
  answered_by: t.about(t.textOrNull, "snapshots that the provider named"),
  rubric_digest: t.anyText,
});

const doses = t.wholeObject({
  ...head,
  task: t.about(t.anyText, "the task that the level changes"),
  of: t.about(t.anyText, "what it changes: time, memory, data, model or help"),
  level: t.about(
    t.anyText,
    "whole: the task itself; checkpoint: its attempts as they stood at that share of their time",
  ),
  dose: t.number,
  unit: t.anyText,
  agent: t.anyText,
  metric: t.anyText,
  scaled: t.about(t.flag, "whether numbers are normalised: 0 is the level's baseline, 1 its reference"),
  mean: t.about(t.numberOrNull, "failed attempts count as the trivial baseline"),
  n: t.count,
  ci_low: t.about(t.numberOrNull, "Student-t, 95 %; attempts worse than the baseline count with their score"),
  ci_high: t.numberOrNull,
  beats_baseline: t.about(t.flag, "shown at this level and at each from the whole task to it"),
  equals_baseline: t.about(t.flag, "shown to be within the declared margin"),
});

const bestOf = t.wholeObject({
  ...{ ...head, task: t.anyText, agent: t.anyText, k: t.positiveInteger, ...metric },
  success: t.about(t.numberOrNull, "the score of a success; empty: none is known"),
  ...{ n: t.count, successes: countOrNull },
  ...{ pass_at_k: t.numberOrNull, pass_ci_low: t.numberOrNull, pass_ci_high: t.numberOrNull },
  dev_scorer: t.about(t.textOrNull, "the scorer of public rows that chooses; empty: choices are random"),
  ...{ groups: t.count, chosen_by_dev: t.count, missing: t.count },
  left_out: t.about(t.count, "attempts that fill no group"),
  chosen_seeds: t.about(t.anyText, "one for each group, separated by spaces; -: none"),
  mean: t.about(t.numberOrNull, "test score of the chosen"),
  ...{ single_mean: t.numberOrNull, normalised_mean: t.numberOrNull },
  p_better: t.about(t.numberOrNull, "P(the chosen attempt beats one outside its group), ties half"),
  ...{ better_ci_low: t.numberOrNull, better_ci_high: t.numberOrNull },
  oracle_upper_bound: t.about(t.numberOrNull, "mean of the groups' best test scores; never compare it"),
});

const profiles = t.wholeObject({
  ...{ ...head, agent: t.anyText, k: t.positiveInteger, tasks: t.anyText },
  above: t.about(t.number, "a normalised score; from it on to the next row the share holds"),
  share: t.number,
});

const together = t.wholeObject({
  ...head,
  arm: t.about(t.anyText, "as the pipeline calls it"),
  primary_arm: t.about(t.flag, "whether it has the primary contrast"),
  task: t.anyText,
  side: t.oneOf("team", "best-of-k", "solo"),
  agent: t.anyText,
  k: t.about(t.positiveInteger, "attempts of each value"),
  ...metric,
  n: t.about(t.count, "values that are not missing"),
  planned: t.count,
  mean: t.numberOrNull,
  ci_low: t.about(t.numberOrNull, "Student, 95 %; empty where an attempt failed or is missing"),
  ci_high: t.numberOrNull,
  budget_hours: t.about(t.numberOrNull, "of each attempt"),
  budget_machines: t.numberOrNull,
  budget_tokens: t.numberOrNull,
  budget_dollars: t.numberOrNull,
});

const members = t.wholeObject({
  ...head,
  ...ofAttempt,
  member: t.about(t.anyText, "of the team that the agent is"),
  member_agent: t.about(t.anyText, "its preset"),
  kind: t.about(t.anyText, "command or llm"),
  calls: t.about(t.count, "answered model calls"),
  input_tokens: t.about(t.number, "as far as the provider reported them"),
  output_tokens: t.number,
  dollars: t.about(t.numberOrNull, "empty: some of its calls have no known price or usage"),
  messages: t.about(t.count, "that it sent to other members"),
  message_characters: t.about(t.count, "of these messages together"),
  ended: t.about(t.anyText, "how it ended"),
});

/** The row of each file, by its name without `.csv`. */
export const resultRows = {
  summary,
  attempts,
  scores,
  checkpoints,
  comparisons,
  answers: judgeAnswers,
  doses,
  "best-of": bestOf,
  profiles,
  together,
  members,
} as const;
export type ResultTable = keyof typeof resultRows;
export type ResultRow<Name extends ResultTable> = t.TypeOf<(typeof resultRows)[Name]>;

/** All files of a report as one object: the rows of each file under its name. Published for readers. */
export const resultTables = t.fileFormat(
  "mlrb tables of results",
  t.wholeObject(
    Object.fromEntries(Object.entries(resultRows).map(([name, row]) => [`${name}.csv`, t.listOf(row)])),
  ),
);
