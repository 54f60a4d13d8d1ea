// What each attempt built: what the harness found in the submission, and apart from it what the agent says of
// itself.

import type { Architecture } from "@mlrb/formats/judged/built";
import type { Report } from "@mlrb/formats/report";
import type { Attempt } from "@mlrb/formats/report/attempt";
import { plainText } from "../read/plain-text.ts";
import { seedCell } from "../sections/attempts-section.ts";
import type { Section } from "../sections/table.ts";
import { column, noNumber, numeric, tableOf, taskGroups } from "../sections/table-of.ts";
import { bytesText } from "../story/bytes-text.ts";

/** Texts of agents are longer in report.json and on the page of the attempt. */
const wordsMax = 120;

export function builtSection(report: Report): Section {
  const facts = report.attempts.flatMap((attempt) => builtOf(attempt) ?? []);
  const groups = taskGroups(report, (name) => facts.filter(({ attempt }) => attempt.task === name));
  const who = [
    column("agent", ({ attempt }: BuiltFacts) => attempt.agent),
    numeric("seed", ({ attempt }: BuiltFacts) => seedCell(attempt)),
  ];
  return {
    heading: "What each attempt built",
    caption:
      "Found by the harness: the architecture is that of config.json, by which the model is loaded; parameters and size are of " +
      "the stored weights. Weights from: the share of values that are versions of a given model's, published models that the " +
      "weights are like, and in sealed attempts what was downloaded. In the agents' own words: nothing of it is verified; " +
      "method is the change of the last experiment that the agent noted.",
    tables: [
      tableOf("Found by the harness", groups, [
        ...who,
        column("architecture", ({ architecture }) => architecture ?? noNumber),
        numeric("parameters", ({ parameters }) => (parameters === null ? noNumber : String(parameters))),
        numeric("size", ({ bytes }) => (bytes === null ? noNumber : bytesText(bytes))),
        column("weights from", ({ found }) => found ?? noNumber),
      ]),
      tableOf("In the agents' own words, not verified", groups, [
        ...who,
        column("base", ({ base }) => clipped(base)),
        column("data", ({ data }) => clipped(data)),
        column("method", ({ method }) => clipped(method)),
      ]),
    ],
    items: [],
  };
}

function clipped(text: string | null) {
  return text === null ? noNumber : plainText(text, wordsMax);
}

type BuiltFacts = NonNullable<ReturnType<typeof builtOf>>;

/** Undefined for a missing attempt, and without a submission that can be judged. */
export function builtOf(attempt: Attempt) {
  const { verdict, research } = attempt;
  if (verdict.kind === "missing" || !verdict.built) return undefined;
  const { architecture, given, known, entered, stated } = verdict.built;
  const fact = (name: string) => {
    const value = verdict.facts[name];
    return typeof value === "number" ? value : null;
  };
  const found = [
    ...given.map(({ model, share }) => `${Math.floor(100 * share)} % of ${model}`),
    ...(known.length > 0 ? [`like ${known.join(", ")}`] : []),
    ...(entered ?? []).map(({ from, id }) => `downloaded ${from} ${id}`),
  ];
  return {
    attempt,
    architecture: architecture && architectureText(architecture),
    parameters: fact("parameters"),
    bytes: fact("bytes"),
    /** Where the weights come from, as far as the harness found it. */
    found: textOf(found),
    /** The agent's own words, like `data` and `method`. */
    base: textOf([stated?.base ?? [], stated?.experts ?? []].flat()),
    data: textOf(stated?.data ?? []),
    method: research?.kind === "found" ? research.lastChange : null,
  };
}

function textOf(names: string[]): string | null {
  return names.length === 0 ? null : names.join(", ");
}

/** `gpt2, 2 layers, width 64, 4 heads, vocabulary 2000`. */
function architectureText(found: Architecture): string {
  const { type, layers, decoderLayers, width, heads, vocabulary } = found;
  return [
    type === "" ? "no model_type" : type,
    ...(layers === null
      ? []
      : [
          `${layers}${decoderLayers === null ? "" : ` + ${decoderLayers}`} ${layers === 1 ? "layer" : "layers"}`,
        ]),
    ...(width === null ? [] : [`width ${width}`]),
    ...(heads === null ? [] : [`${heads} heads`]),
    ...(vocabulary === null ? [] : [`vocabulary ${vocabulary}`]),
  ].join(", ");
}
