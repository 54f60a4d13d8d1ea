// Checks a task.yaml beyond its shape. All tables by kind of data must have the same kinds, or a profile would
// fail halfway for want of a budget. A kind's primary scorer, trivial baselines and rules must belong to that
// kind.
import type { Expectation, TaskManifest } from "@mlrb/formats/declared/task";
import type { Diagnostic } from "../yaml/diagnostic.ts";
import { didYouMean, suggest } from "../yaml/suggest.ts";
import type { Path, YamlSource } from "../yaml/yaml-source.ts";

type Known = {
  isThere: (kind: "scorer" | "source", name: string) => boolean;
  /** Made only for help texts. */
  names: (kind: "scorer" | "source") => string[];
  /** The metric's minimum and maximum, null for no maximum; undefined if scorer.yaml gives none. */
  scorerRange: (name: string) => readonly [number, number | null] | undefined;
};

/** Each rule with the fields without which it would report consequences of another problem. */
const rules: [
  needs: (keyof TaskManifest)[],
  rule: (task: TaskManifest, ...of: RuleArguments) => Diagnostic[],
][] = [
  [["scorers"], checkKinds],
  [["scorers", "primary"], checkScorers],
  [[], checkPublishedValues],
  [[], checkDownloads],
  [["downloads"], checkSourceModels],
  [["primary", "references", "baselines"], checkExpected],
  [["scorers", "rules"], checkRules],
];
type RuleArguments = [source: YamlSource<TaskManifest>, known: Known];

/** `lost`: the fields whose value is not known; `source` lacks them. */
export function checkTask(
  source: YamlSource<TaskManifest>,
  known: Known,
  lost: ReadonlySet<string>,
): Diagnostic[] {
  return rules.flatMap(([needs, rule]) =>
    needs.some((field) => lost.has(field)) ? [] : rule(source.value, source, known),
  );
}

/** The keys of `scorers` define the kinds: a kind without a scorer is useless. */
function checkKinds(task: TaskManifest, source: YamlSource): Diagnostic[] {
  const kinds = Object.keys(task.scorers);
  return (
    [
      "primary",
      "promptDigest",
      "models",
      "givenModels",
      "publishedModels",
      "baselines",
      "budget",
      "references",
      "referenceRows",
      "success",
      "devScorers",
      "expected",
      "downloads",
      "published",
    ] as const
  ).flatMap((table) => {
    const said = task[table];
    if (said === undefined) return [];
    const others = Object.keys(said).filter((kind) => !kinds.includes(kind));
    // published values are on official data, and not every kind has public rows to measure on, or a reference to beat
    const isPartial = ["published", "devScorers", "success"].includes(table);
    const missing = isPartial ? [] : kinds.filter((kind) => !Object.hasOwn(said, kind));
    // a kind that is missing because it was misspelt is reported as misspelt
    const unsaid = missing.filter((kind) => !others.some((other) => suggest(other, [kind]) !== undefined));
    return [
      ...others.map((kind) => unknownKind(kind, { kinds, source, path: [table, kind], at: "key" })),
      ...unsaid.map((kind) => ({
        code: "missing-kind",
        message: `"${table}" has no entry for "${kind}", which "scorers" has`,
        place: source.place([table], "key"),
        help: `add ${kind} to ${table}, or take it out of scorers`,
      })),
    ];
  });
}

function unknownKind(
  kind: string,
  from: { kinds: string[]; source: YamlSource; path: Path; at?: "key" | "value" },
): Diagnostic {
  return {
    code: "unknown-kind",
    message: `"${kind}" is not a kind of data in "scorers"`,
    place: from.source.place(from.path, from.at),
    help: didYouMean(kind, from.kinds),
  };
}

/** The tables with entries by scorer, and the name of an entry. */
const byScorer = {
  baselines: "a trivial baseline",
  referenceRows: "a reference model",
  expected: "an expected value",
  published: "published values",
} as const;

function checkScorers(task: TaskManifest, source: YamlSource, known: Known): Diagnostic[] {
  return Object.entries(task.scorers).flatMap(([kind, scorers]) => {
    const problems: Diagnostic[] = [];
    const unknown = (message: string, path: Path, help: string, at?: "key") =>
      problems.push({ code: "unknown-scorer", message, place: source.place(path, at), help });
    const dev = task.devScorers?.[kind]?.scorer;
    if (dev !== undefined && !known.isThere("scorer", dev))
      unknown(`no scorer named "${dev}"`, ["devScorers", kind, "scorer"], helpIn("scorer", dev, known));
    for (const [index, name] of scorers.entries()) {
      if (!known.isThere("scorer", name))
        unknown(`no scorer named "${name}"`, ["scorers", kind, index], helpIn("scorer", name, known));
    }
    const oneOf = `one of: ${scorers.join(", ")}`;
    const primary = Object.hasOwn(task.primary, kind) ? task.primary[kind]! : undefined;
    if (primary !== undefined && !scorers.includes(primary)) {
      const message = `the primary scorer "${primary}" is not among the task's scorers for "${kind}"`;
      unknown(message, ["primary", kind], oneOf);
    }
    for (const [table, what] of Object.entries(byScorer)) {
      const said = task[table as keyof typeof byScorer] ?? {};
      for (const name of Object.keys(Object.hasOwn(said, kind) ? said[kind]! : {})) {
        if (scorers.includes(name)) continue;
        const message = `${what} for "${name}", which is not among the task's scorers for "${kind}"`;
        unknown(message, [table, kind, name], oneOf, "key");
      }
    }
    return problems;
  });
}

function helpIn(kind: "scorer" | "source", name: string, known: Known): string {
  const names = known.names(kind);
  return `${didYouMean(name, names)} \`pnpm pipeline list ${kind}s\` shows all ${names.length}`;
}

/** A value in another unit, such as a percentage, would look like a result next to ours. */
function checkPublishedValues(task: TaskManifest, source: YamlSource, known: Known): Diagnostic[] {
  return Object.entries(task.published ?? {}).flatMap(([kind, byScorer]) =>
    Object.entries(byScorer).flatMap(([scorer, values]) => {
      const [least, most] = known.scorerRange(scorer) ?? [Number.NEGATIVE_INFINITY, null];
      return values.flatMap(({ value }, index) => {
        if (value >= least && (most === null || value <= most)) return [];
        const range = most === null ? `at least ${least}` : `from ${least} to ${most}`;
        return {
          code: "wrong-value",
          message: `the published value ${value} of "${scorer}" is outside the scorer's range`,
          place: source.place(["published", kind, scorer, index, "value"]),
          help: `write it in the scorer's unit, ${range}; a percentage becomes a share`,
        };
      });
    }),
  );
}

/** Also of kinds that no profile uses yet. */
function checkDownloads(task: TaskManifest, source: YamlSource, known: Known): Diagnostic[] {
  return Object.entries(task.downloads ?? {}).flatMap(([kind, names]) =>
    names.flatMap((name, index) => {
      if (known.isThere("source", name)) return [];
      const place = source.place(["downloads", kind, index]);
      const help = helpIn("source", name, known);
      return { code: "unknown-source", message: `no source named "${name}"`, place, help };
    }),
  );
}

/** A model comes from a download of the same kind of data. */
function checkSourceModels(task: TaskManifest, source: YamlSource): Diagnostic[] {
  return (["givenModels", "publishedModels"] as const).flatMap((table) =>
    Object.entries(task[table] ?? {}).flatMap(([kind, models]) =>
      Object.entries(models).flatMap(([name, from]) => {
        if (task.downloads?.[kind]?.includes(from)) return [];
        return {
          code: "not-downloaded",
          message: `the model "${name}" comes from "${from}", which is not among the downloads of ${kind} data`,
          place: source.place([table, kind, name]),
          help: `add ${from} to downloads: { ${kind}: […] }`,
        };
      }),
    ),
  );
}

/** Where a kind of data expects something of reference models, its primary scorer expects something of each. */
function checkExpected(task: TaskManifest, source: YamlSource): Diagnostic[] {
  return Object.entries(task.expected ?? {}).flatMap(([kind, scorers]) => {
    const names = (task.references?.[kind] ?? []).map(({ name }) => name);
    const problems = Object.entries(scorers).flatMap(([scorer, rows]) =>
      Object.entries(rows).flatMap(([row, expectation]) => {
        const path = ["expected", kind, scorer, row];
        if (!names.includes(row))
          return {
            code: "unknown-reference",
            message: `no reference model named "${row}" is among the references of ${kind} data`,
            place: source.place(path, "key"),
            help: didYouMean(row, names),
          };
        return checkExpectation(expectation, { task, kind, scorer, path, source });
      }),
    );
    const primary = task.primary[kind];
    if (Object.keys(scorers).length === 0 || primary === undefined) return problems;
    const missing = names.filter((name) => scorers[primary]?.[name] === undefined);
    if (missing.length > 0)
      problems.push({
        code: "no-expectation",
        message: `nothing is expected of ${missing.join(", ")} with the primary scorer "${primary}"`,
        place: source.place(["expected", kind], "key"),
        help: `add ${missing.map((name) => `${name}: { kind: finite }`).join(", ")}, or a range with its source`,
      });
    return problems;
  });
}

function checkExpectation(
  { kind: needed, low, high, value, within, of, source: said }: Expectation,
  at: { task: TaskManifest; kind: string; scorer: string; path: Path; source: YamlSource },
): Diagnostic[] {
  const problem = (message: string, help: string, code = "wrong-value"): Diagnostic => ({
    code,
    message,
    place: at.source.place(at.path),
    help,
  });
  const isRange = needed === "range";
  const isWhole = low !== undefined && high !== undefined && low <= high;
  const isEmpty = low === undefined && high === undefined;
  const problems: Diagnostic[] = [];
  if (isRange ? !isWhole : !isEmpty)
    problems.push(
      isRange
        ? problem("a range goes from a low to a high number", "write low: and high:, the smaller one as low")
        : problem(`kind: ${needed} has no low and no high`, "remove them, or write kind: range"),
    );
  const isPublished = needed === "published";
  const parts = [value, within, ...(isPublished ? [] : [of])];
  if (parts.some((part) => (part === undefined) === isPublished) || value === 0 || (within ?? 0) < 0)
    problems.push(
      isPublished
        ? problem("a published value has a value and a share", "write value: and within:, e.g. within: 0.001")
        : problem(`kind: ${needed} has no value, within or of`, "remove them, or write kind: published"),
    );
  if (needed !== "finite" && said === undefined)
    problems.push(
      problem(`kind: ${needed} needs a source`, "say who reported it, or write kind: finite", "no-source"),
    );
  if (needed === "above-baseline" && at.task.baselines[at.kind]?.[at.scorer] === undefined)
    problems.push(
      problem(
        `"${at.scorer}" has no trivial baseline on ${at.kind} data`,
        "add one to baselines, or write kind: finite",
        "no-baseline",
      ),
    );
  return problems;
}

/** Two rules may share a name if no kind of data has both, e.g. memory limits of different devices. */
function checkRules(task: TaskManifest, source: YamlSource): Diagnostic[] {
  const kinds = Object.keys(task.scorers);
  const held = new Map<string, Set<string>>();
  return task.rules.flatMap(({ name, on }, index) => {
    const problems = (on ?? []).flatMap((kind, at) =>
      kinds.includes(kind) ? [] : [unknownKind(kind, { kinds, source, path: ["rules", index, "on", at] })],
    );
    const before = held.get(name) ?? new Set();
    const both = (on ?? kinds).filter((kind) => before.has(kind));
    held.set(name, new Set([...before, ...(on ?? kinds)]));
    if (both.length > 0) {
      problems.push({
        code: "duplicate",
        message: `a second rule "${name}" for ${both.join(", ")}`,
        place: source.place(["rules", index, "name"]),
        help: "rename it, or limit each rule to some kinds of data with on:",
      });
    }
    return problems;
  });
}
