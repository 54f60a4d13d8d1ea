// The CSV files of a report: one kind of row in each. A file's columns are the properties of its row, in this order.
// null is an empty cell.
import {
  anyText,
  count,
  fileFormat,
  flag,
  listOf,
  number,
  numberOrNull,
  oneOf,
  type TypeOf,
  textOrNull,
  wholeObject,
} from "../schema.ts";
import {
  about,
  countOrNull,
  flagOrNull,
  head,
  made,
  metric,
  ofAttempt,
  originOfMean,
  scale,
} from "./result-columns.ts";

const summary = wholeObject({
  ...head,
  task: anyText,
  agent: anyText,
  ...metric,
  mean: about(
    numberOrNull,
    "over all attempts that are not missing; failed ones and those worse than the trivial baseline count as the trivial baseline",
  ),
  mean_reason: about(textOrNull, "why there is no mean"),
  n: about(count, "attempts behind the mean"),
  planned: about(count, "attempts that were planned"),
  valid_mean: about(
    numberOrNull,
    "mean of the valid attempts, undecided ones included; empty: none is valid",
  ),
  valid_n: count,
  valid_ci_low: about(
    numberOrNull,
    "of the 95 % Student-t interval of valid_mean, cut to the metric's range. It is no interval of mean",
  ),
  valid_ci_high: about(numberOrNull, "its upper end"),
  valid_ci_reason: about(textOrNull, "why there is no interval"),
  pass_rate: about(numberOrNull, "valid_n / n; empty: nothing was measured"),
  pass_ci_low: about(numberOrNull, "of Wilson's 95 % interval of pass_rate; empty: no interval holds"),
  pass_ci_high: about(numberOrNull, "its upper end"),
  disqualified: count,
  rejected: count,
  undecided: about(count, "valid attempts with an undecided rule"),
  below_floor: about(count, "valid attempts worse than the trivial baseline, which count as it"),
  observations: about(count, "n with repeated attempts as one"),
  sd_attempts: about(numberOrNull, "sample standard deviation over valid attempts; empty for fewer than two"),
  se_items: about(numberOrNull, "standard error of valid_mean over items, for these submissions"),
  se_items_kind: about(textOrNull, "exact, or at-most: an upper bound"),
  ...scale,
  floor_name: about(
    textOrNull,
    "the row of the report's reference models; empty: a number of task.yaml, or none",
  ),
  anchor_name: textOrNull,
  anchor_kind: textOrNull,
  normalised_mean: about(
    numberOrNull,
    "mean on the scale from the trivial baseline (0) to the reference model (1)",
  ),
  normalised_reason: about(textOrNull, "why there is no such scale"),
  origin: originOfMean,
});

const attempts = wholeObject({
  ...head,
  ...ofAttempt,
  ...made,
  machine_verdict: about(textOrNull, "the verdict without decisions of people; empty for a missing attempt"),
  reason: about(textOrNull, "broken and undecided rules with their evidence, or why it is missing"),
  note: about(textOrNull, "e.g. that it was accepted as stale"),
  gpus: about(textOrNull, "models of the GPUs that it held"),
  resumed: about(count, "how often it continued after its supervisor or host died"),
  interventions: about(textOrNull, "what people added or wrote to it; it is then in no mean"),
  parameters: about(numberOrNull, "of the stored weights"),
  bytes: about(numberOrNull, "of the stored weights"),
  architecture: about(textOrNull, "by which the model is loaded"),
  weights_from: about(textOrNull, "given and published models that the weights match, and downloads"),
  stated_base: about(textOrNull, "in the agent's own words, not verified; like the two columns after it"),
  stated_data: textOrNull,
  stated_method: textOrNull,
  research_reason: about(textOrNull, "why its research is unknown"),
  executed_iterations: about(
    countOrNull,
    "iterations in which a program ran, and something changed or was measured",
  ),
  distinct_valid_submissions: countOrNull,
  runs: about(countOrNull, "programs that the agent ran"),
  failed_runs: countOrNull,
  measured_runs: about(countOrNull, "runs that printed results in a known form"),
  benchmark_calls: about(countOrNull, "calls of a model that name the benchmark"),
  benchmark_names: textOrNull,
  limits_reached: about(textOrNull, "of its budget and its sandbox"),
  stated_metric: about(textOrNull, "the metric of most of its iterations"),
  ended_by: about(textOrNull, "what ended it and what it left, as recorded"),
  memorisation: about(
    numberOrNull,
    "bits per byte on private minus matched public texts, relative to a reference; it changes no number",
  ),
  memorisation_se: about(numberOrNull, "its standard error over documents"),
  memorisation_noted: about(
    flagOrNull,
    "whether private texts are favoured by more than five standard errors",
  ),
  memorisation_reason: about(textOrNull, "why it was not measured"),
});

const scores = wholeObject({
  ...head,
  ...ofAttempt,
  ...metric,
  score: about(oneOf("scored", "rejected", "not-measured"), "whether there is a value"),
  value: about(numberOrNull, "as measured; also of disqualified attempts"),
  standard_error: about(numberOrNull, "over items, never over attempts"),
  items: countOrNull,
  counted: about(
    numberOrNull,
    "what enters the mean: the value, the trivial baseline, or nothing for a missing attempt",
  ),
  ...scale,
  normalised: about(numberOrNull, "counted on the scale from floor (0) to anchor (1), not clipped"),
  implausible: about(flag, "better than each reference model of like size by over five standard errors"),
  implausible_by: about(numberOrNull, "in standard errors, from the nearest one; empty if both errors are 0"),
  best: about(
    flag,
    "the best valid attempt of its task and agent, on the primary metric; never compare these",
  ),
  ...made,
  machine_verdict: textOrNull,
  reason: about(textOrNull, "why there is no value, or why the attempt is not a pass"),
});

const moments = wholeObject({
  ...head,
  ...ofAttempt,
  moment: about(anyText, "on the pipeline's axis, e.g. 25%; the end is in scores.csv"),
  share: about(number, "of the budget"),
  metric: about(textOrNull, "empty if nothing was submitted yet"),
  primary: flagOrNull,
  unit: textOrNull,
  direction: textOrNull,
  score: about(oneOf("scored", "rejected", "not-measured", "none"), "none: nothing was submitted yet"),
  value: about(numberOrNull, "it does not count"),
  standard_error: numberOrNull,
  ...made,
  reason: about(textOrNull, "why there is no value"),
});

const comparisons = wholeObject({
  ...head,
  agent_a: anyText,
  agent_b: anyText,
  difference: about(numberOrNull, "mean over tasks of the normalised mean of A minus that of B"),
  ci_low: about(numberOrNull, "of its 95 % interval, from the inverted permutation test"),
  ci_high: about(numberOrNull, "its upper end"),
  difference_tasks: countOrNull,
  difference_reason: about(textOrNull, "why there is no difference, or no interval"),
  superiority: about(numberOrNull, "P(an attempt of A is better than one of B), ties half, mean over tasks"),
  superiority_ci_low: numberOrNull,
  superiority_ci_high: numberOrNull,
  p: about(numberOrNull, "two-sided permutation test of the labels within tasks; empty: not testable"),
  p_min: about(numberOrNull, "the smallest p that these values allow"),
  tasks: about(countOrNull, "tasks behind superiority and p"),
  origin: originOfMean,
});

/** The row of each file, by its name without `.csv`. */
export const resultRows = {
  summary,
  attempts,
  scores,
  moments,
  comparisons,
} as const;
export type ResultTable = keyof typeof resultRows;
export type ResultRow<Name extends ResultTable> = TypeOf<(typeof resultRows)[Name]>;

/** All files of a report as one object: the rows of each file under its name. Published for readers. */
export const resultTables = fileFormat(
  "mlrb tables of results",
  wholeObject(
    Object.fromEntries(Object.entries(resultRows).map(([name, row]) => [`${name}.csv`, listOf(row)])),
  ),
);
