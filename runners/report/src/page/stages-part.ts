// The stage graph, and every stage instance with its outcome, reasons, duration, inputs and outputs. The report's
// numbers link here; each input links to the instance that produced it.
import { formatDuration } from "@mlrb/core/text/units";
import { type Html, html, idOf, trusted } from "./html.ts";
import type { Made, PageData, PageInstance } from "./page-data.ts";
import { instanceId } from "./section-html.ts";

export function stagesPart({ graph, instances }: PageData): Html {
  const known = new Set(instances.map(({ id }) => id));
  // instances with the same key are described once, at the first in the plan's order
  const first = new Map<string, string>();
  for (const { id, made } of instances) if (made && !first.has(made.key)) first.set(made.key, id);
  const stages = [...Map.groupBy(instances, ({ stage }) => stage)];
  return html`<section aria-labelledby="stages"><h2 id="stages">Stages</h2>
<p class="caption">The declared stages and the artifacts between them, then every stage instance, with the times of the run that made it.</p>
<div class="scroll graph" role="group" tabindex="0" aria-label="graph of the stages">${trusted(graph)}</div>
<p><label for="filter">Show instances whose name contains</label> <input id="filter" type="search" autocomplete="off" spellcheck="false"> <span id="filtered" role="status"></span></p>
${stages.map(
  ([
    stage,
    own,
  ]) => html`<details class="stage" id="${idOf("stages", stage)}"><summary><b>${stage}</b>: ${countsText(own)}</summary>
${own.map((instance) => instancePart(instance, { known, first }))}
</details>
`,
)}
</section>
`;
}

/** `12 succeeded, 1 failed; 3 m 4 s in total`. */
function countsText(instances: PageInstance[]): string {
  const counts = [...Map.groupBy(instances, ({ outcome }) => outcome.kind)].map(
    ([kind, same]) => `${same.length} ${kind}`,
  );
  return `${counts.join(", ")}; ${formatDuration(togetherMs(instances))} in total`;
}

/** Sum of the instances' durations. */
export function togetherMs(instances: PageInstance[]): number {
  return instances.reduce((sum, { made }) => sum + (made?.ran.durationMs ?? 0), 0);
}

type StageLinks = { known: Set<string>; first: Map<string, string> };

function instancePart(
  { id, outcome, reasons, made, said }: PageInstance,
  { known, first }: StageLinks,
): Html {
  const twin = made && first.get(made.key);
  if (made && twin !== id && outcome.kind === "succeeded")
    return html`<details id="${instanceId(id)}" class="instance"><summary><code>${id}</code> <span class="succeeded">succeeded</span> (same action as another)</summary>
<p>Uses the outputs of <a href="#${instanceId(twin!)}">${twin!}</a>: key, inputs and script are the same.</p>
</details>
`;
  const { queued } = made?.ran.where ?? {};
  const took = made
    ? `, ${formatDuration(made.ran.durationMs)}${queued === undefined ? "" : `, queued ${queued} before`}`
    : "";
  const why = reasons.length > 0 ? ` (${reasons.join("; ")})` : "";
  const cause = "cause" in outcome ? outcome.cause : "";
  return html`<details id="${instanceId(id)}" class="instance"><summary><code>${id}</code> <span class="${outcome.kind}">${outcome.kind}</span>${took}${why}</summary>
${cause !== "" && html`<p class="bad">${cause}</p>`}
${made ? madePart(made, known) : html`<p>No successful result is stored.</p>`}
${said.length > 0 && html`<p>Last lines of its log:</p><pre>${said.join("\n")}</pre>`}
</details>
`;
}

function madePart(made: Made, known: Set<string>): Html {
  const { ran } = made;
  const row = (name: string, value: Html | string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
  const digest = (text: string) => html`<code class="digest">${text}</code>`;
  return html`<dl>
${row("script", html`<code>${made.script}</code>`)}
${row("key", digest(made.key))}
${made.record !== null && row("record", digest(made.record))}
${made.params.map(({ name, value }) => row(`parameter ${name}`, html`<code>${value}</code>`))}
${made.files.map(({ path, digest: of }) => row("file", html`<code>${path}</code> ${digest(of)}`))}
${made.inputs.map(({ name, digest: of, from, output }) =>
  row(
    `input ${name}`,
    html`${digest(of)} ${output} of ${known.has(from) ? html`<a href="#${instanceId(from)}">${from}</a>` : from}`,
  ),
)}
${made.outputs.map(({ name, digest: of }) => row(`output ${name}`, digest(of)))}
${made.environment !== null && row("environment", digest(made.environment))}
${row("ran", `${ran.startedAt}, ${formatDuration(ran.durationMs)}, ${ran.executor} on ${ran.host}, run ${ran.run}`)}
${Object.entries(ran.where ?? {}).map(([name, value]) => row(name, value))}
${row("run again", html`<code>${made.again}</code>`)}
</dl>
`;
}
