// The details of each attempt: the verdict with its evidence, every score with its groups, its duration, and its
// story.

import { counted } from "@mlrb/core/text/counted";
import type { RuleVerdict } from "@mlrb/formats/judged/verdict";
import type { Report } from "@mlrb/formats/report";
import type { Attempt, AttemptResearch, AttemptScore } from "@mlrb/formats/report/attempt";
import type { JudgedAttempt } from "@mlrb/formats/report/judged";
import type { Times } from "@mlrb/formats/times";
import { answersPart } from "../judged/answers-part.ts";
import { attemptMarks } from "../read/attempt-marks.ts";
import { decisionsOn, decisionText } from "../read/decisions.ts";
import { digitsText, partError, supportedDigits, supportedText } from "../sections/digits-text.ts";
import { metricHead, verdictText } from "../sections/report-words.ts";
import { endTexts } from "../sections/research-section.ts";
import { metricOf, type ShownMetric } from "../units/shown-metric.ts";
import { experimentsPart, shortNumber } from "./charts/experiments-part.ts";
import { attemptTimePart } from "./charts/time-spent-part.ts";
import { type Html, html } from "./html.ts";
import type { PageData, PageInstance, PageStory } from "./page-data.ts";
import { attemptId, instanceId } from "./section-html.ts";
import { storyLimits, storyPart } from "./story-part.ts";

export function attemptsPart({ report, times, instances, stories }: PageData): Html {
  return html`<section aria-labelledby="each-attempt" class="each-attempt"><h2 id="each-attempt">Each attempt</h2>
<p class="caption unprinted">An attempt that is chosen in the table above or in the overview opens here.</p>
<p class="caption">${storyLimits}</p>
${report.attempts.map((attempt) => {
  const same = (one: { task?: unknown; agent?: unknown; seed?: unknown }) =>
    one.task === attempt.task && one.agent === attempt.agent && one.seed === attempt.seed;
  return attemptPart(attempt, {
    report,
    time: times?.attempts.find(same),
    story: stories.find(same),
    instances: instances.filter(({ axes }) => same(axes)),
    judged: report.judged?.attempts.filter(same) ?? [],
  });
})}
</section>
`;
}

type AttemptDetails = {
  report: Report;
  time: Times["attempts"][number] | undefined;
  story: PageStory | undefined;
  instances: PageInstance[];
  judged: JudgedAttempt[];
};

function attemptPart(attempt: Attempt, { report, time, story, instances, judged }: AttemptDetails): Html {
  const { task, agent, seed, verdict, scores } = attempt;
  const metrics = Object.keys(scores).map((name) => metricOf(report, name));
  const primary = report.tasks.find(({ name }) => name === task)?.primary;
  const first = metrics.find(({ name }) => name === primary);
  const record = instances.find(({ made }) => made?.record)?.made?.record ?? undefined;
  const head = first ? `, ${first.name} ${scoreText(scores[first.name]!, first)}` : "";
  return html`<details id="${attemptId(task, agent, seed)}" class="attempt"><summary>${task}, ${agent}, seed ${seed}: <span class="${verdict.kind}">${verdictText(verdict)}</span>${head}</summary>
<p>${timeText(time)}${attempt.note !== "" && html` <b>${attempt.note}</b>`}${attemptMarks.map(({ mark, text, effect }) => text(attempt) !== "" && html` <b>${mark} ${text(attempt)}${effect}.</b>`)}</p>
${metrics.map((metric) => scorePart(scores[metric.name]!, metric))}
${verdict.kind === "missing" ? html`<p class="bad">Missing: ${verdict.cause}</p>` : rulesTable(verdict.rules, attempt)}
${attempt.research !== null && html`<p>${researchText(attempt.research)}</p>`}
${
  story?.kind === "read" &&
  experimentsPart({
    ...{ experiments: story.experiments, more: story.experimentsMore, time },
    metric: attempt.research?.kind === "found" ? attempt.research.metric : null,
  })
}
${time && attemptTimePart(time)}
${answersPart(judged)}
${story && storyPart(story, record)}
<p>Submission ${attempt.submission === null ? "none" : html`<code>${attempt.submission}</code>`}. Stages: ${instances.map(({ id, stage, axes }, at) => html`${at > 0 && ", "}<a href="#${instanceId(id)}">${[stage, axes.scorer, axes.checkpoint].filter((part) => part !== undefined).join(" ")}</a>`)}</p>
<p><a href="#all-attempts">Back to all attempts</a></p>
</details>
`;
}

function timeText(time: AttemptDetails["time"]): string {
  if (!time || time.wallSeconds === null) return "Its duration is unknown.";
  const budget = time.budgetSeconds === null ? "" : ` of ${time.budgetSeconds}`;
  const dollars = time.dollars === null ? "" : `, ${time.dollars} dollars`;
  const busy = typeof time.gpuBusyHours === "number" ? ` (${time.gpuBusyHours.toFixed(2)} busy)` : "";
  const peak = time.gpuMemoryPeakMiB ?? null;
  const memory = peak === null ? "" : `, up to ${peak} MiB of memory on a GPU (polled)`;
  const gpu = time.gpuHours === null ? "" : `, ${time.gpuHours} GPU hours${busy}${memory}`;
  return `It took ${time.wallSeconds}${budget} s${gpu}${dollars} and ended: ${time.ended ?? "unknown"}.`;
}

function researchText(research: AttemptResearch): string {
  if (research.kind === "not-measured") return `Research: not measured: ${research.cause}`;
  const { executed, predictionError, predictions, runs, limits, distinctValid, benchmarkCalls } = research;
  const valid =
    distinctValid === null ? "" : ` ${counted(distinctValid, "distinct submission")} can be loaded.`;
  const ran =
    runs === null
      ? ""
      : ` ${counted(runs.ended, "program")} ended, ${runs.failed} with an exit code other than 0; ${runs.measured ?? "unknown how many"} measured.`;
  const reached = limits.length === 0 ? "" : ` Limits reached: ${limits.join(", ")}.`;
  const named =
    benchmarkCalls?.kind === "counted"
      ? ` ${counted(benchmarkCalls.calls, "tool call")} ${benchmarkCalls.calls === 1 ? "names" : "name"} the scored benchmark${benchmarkCalls.calls > 0 ? ` (${benchmarkCalls.names.join(", ")})` : ""}.`
      : "";
  const missed =
    predictionError === null
      ? ""
      : ` Mean error of its ${counted(predictions, "prediction")}: ${shortNumber(predictionError)}.`;
  const ends = endTexts(research);
  const ended = ends.length === 0 ? "" : ` As recorded: ${ends.join("; ")}.`;
  return `Research: ${counted(executed, "iteration")}.${valid}${ran}${named}${reached}${missed}${ended}`;
}

function rulesTable(rules: RuleVerdict[], attempt: Attempt): Html {
  if (rules.length === 0) return html`<p>No rules were judged.</p>`;
  return html`<div class="scroll" role="group" tabindex="0" aria-label="rules"><table class="cards rules"><caption>Rules</caption>
<thead><tr><th scope="col">rule</th><th scope="col">verdict</th><th scope="col">evidence</th><th scope="col">source</th><th scope="col">severity</th></tr></thead>
<tbody>${rules.map(
    ({ rule, title, answer, evidence, source, severity }) =>
      html`<tr><th scope="row" data-label="rule"><span>${rule}<br><small>${title}</small></span></th><td data-label="verdict" class="${answer === "fail" ? "bad" : ""}">${answer}</td><td data-label="evidence"><span>${evidence}${decisionsOn(attempt, rule).map((one) => html`<br><b>decided by a person: ${decisionText(one)}</b>`)}</span></td><td data-label="source">${source}</td><td data-label="severity">${severity}</td></tr>`,
  )}</tbody></table></div>
`;
}

function scoreText(score: AttemptScore, metric: ShownMetric): string {
  if (score.kind === "rejected") return "rejected";
  if (score.kind !== "scored") return "not measured";
  return supportedText(score.value, metric.digits, score.standardError);
}

function scorePart(score: AttemptScore, metric: ShownMetric): Html {
  const head = html`<b>${metricHead(metric)}</b>`;
  if (score.kind === "rejected")
    return html`<p>${head}: <span class="bad">rejected</span>: ${score.reason}</p>`;
  if (score.kind === "not-measured")
    return html`<p>${head}: <span class="bad">not measured</span>: ${score.cause}</p>`;
  const { value, standardError, items, groups, extra, version } = score;
  const secondary = Object.entries(extra).map(([name, found]) => `${name} ${shortNumber(found)}`);
  const names = Object.keys(groups);
  const digits = supportedDigits(metric.digits, standardError);
  const groupText = (group: { value: number; items: number }) =>
    supportedText(group.value, metric.digits, partError(standardError, { items: group.items, of: items }));
  return html`<p>${head}: ${digitsText(value, digits)} ± ${digitsText(standardError, digits, value)} ${metric.unit} over ${counted(items, "item")}, scorer version ${version}${secondary.length > 0 && html`; ${secondary.join(", ")}`}</p>
${
  names.length > 0 &&
  html`<details><summary>${counted(names.length, "group")} of ${metric.name}</summary><div class="scroll" role="group" tabindex="0" aria-label="groups of ${metric.name}"><table><caption class="unseen">groups of ${metric.name}</caption>
<thead><tr><th scope="col">group</th><th scope="col" class="number">value</th><th scope="col" class="number">items</th></tr></thead>
<tbody>${names.map((name) => html`<tr><th scope="row">${name}</th><td class="number">${groupText(groups[name]!)}</td><td class="number">${groups[name]!.items}</td></tr>`)}</tbody></table></div></details>`
}
`;
}
