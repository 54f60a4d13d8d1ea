// Small doubles of the official repositories for a hub on this machine: the true names, configs, splits and
// columns, with few rows of our own. What a source is not known to hold here cannot be published, so a new source
// needs its double.
import { execFileSync } from "node:child_process";
import { globSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { parquetWriteBuffer } from "hyparquet-writer";
import { parse } from "yaml";
import type { LoopbackHub } from "../servers/loopback-hub.ts";
import { warmArguments } from "../warm-python.ts";

type Row = Record<string, unknown>;
type Files = Record<string, Buffer | string>;
/** By config, by split. `default` is the only config of a set without configs. */
type DataSet = Record<string, Record<string, Row[]>>;

const repository = join(import.meta.dirname, "../../..");

const sentences = [
  "The ferry left the harbour at seven, and the mail went with it.",
  "A mill by the river grinds oats for the three villages above the ford.",
  "Ola repaired the clock, wound it twice and hung it in the hall.",
  "When the rain stopped, the children carried the chairs back into the garden.",
  "Ida sold her red boat to a baker who had never been at sea.",
];

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    Array.from({ length: 12 }, (_, step) => sentences[(at * 7 + step * step) % sentences.length]).join(" "),
  );
}

const alpaca = (count: number): Row[] =>
  texts(count).map((output) => ({ instruction: "Tell a short story.", input: "", output }));

const dataSets: Record<string, () => DataSet> = {
  babylm: () => {
    const files = (of: string) =>
      ["aochildes", "bnc_spoken", "cbt", "gutenberg", "open_subtitles", "switchboard"].map((name, at) => ({
        filename: `${name}.${of}`,
        content: texts(10 + at).join("\n"),
      }));
    return { default: { train: files("train"), test: files("test"), dev: files("dev") } };
  },
  minipile: () => {
    const rows = (count: number) => texts(count).map((text) => ({ text }));
    return { default: { train: rows(60), validation: rows(5), test: rows(10) } };
  },
  "edge-llm-training": () => ({
    c4_combined_dataset: { train: texts(60).map((text) => ({ text })) },
    alpaca_cleaned: { train: alpaca(10) },
  }),
  "llm-merging": () => ({
    cosmos_qa: { train: [{ input: "Why?", target: "because", answer_choices: ["so", "because"], label: 1 }] },
    xsum: { train: [{ input: sentences[0], target: "A ferry left." }] },
    alpaca_cleaned: { train: alpaca(5) },
  }),
  "math-reasoning": () => ({ default: { train: theorems(8) } }),
  "math-reasoning-test": () => ({ default: { test: [...theorems(1), ...theorems(12).slice(8)] } }), // one is public
  mmlu: () => {
    const rows = (subject: string, count: number): Row[] =>
      Array.from({ length: count }, (_, at) => ({
        question: `Which number is ${at + 1} more than ${subject.length}?`,
        subject,
        choices: [1, 2, 3, 4].map((more) => String(subject.length + more)),
        answer: at % 4,
      }));
    const configs = [...subjectsOf("mmlu/default"), "all"].map((name) => [
      name,
      { test: rows(name, 2), validation: rows(name, 1), dev: rows(name, 1) },
    ]);
    return { ...Object.fromEntries(configs), auxiliary_train: { train: rows("auxiliary", 2) } };
  },
  blimp: () =>
    Object.fromEntries(
      subjectsOf("blimp").map((UID) => [
        UID,
        {
          train: [0, 1].map((pair_id) => ({
            sentence_good: `${["Anna", "The waiter"][pair_id]} paints a lamp.`,
            sentence_bad: `${["Anna", "The waiter"][pair_id]} paint a lamp.`,
            field: "morphology",
            linguistics_term: "subject_verb_agreement",
            UID,
            simple_LM_method: true,
            one_prefix_method: false,
            two_prefix_method: false,
            lexically_identical: false,
            pair_id,
          })),
        },
      ]),
    ),
  "wikitext-2": () => {
    const rows = (count: number) => ["", " = A title = \n", ...texts(count)].map((text) => ({ text }));
    return { "wikitext-2-raw-v1": { train: rows(4), validation: rows(3), test: rows(5) } };
  },
  "super-glue": () => {
    const from = join(repository, "scorers/super-glue-mean/fixtures/private/super_glue");
    const rows = (config: string) =>
      readFileSync(join(from, config, "validation.jsonl"), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Row);
    const scored = readdirSync(from).map((config) => [config, { validation: rows(config) }]);
    const diagnostic = { test: [{ sentence1: "a", sentence2: "b", idx: 0, label: 0 }] };
    return {
      ...Object.fromEntries(scored),
      axb: diagnostic,
      axg: diagnostic,
      wsc: { validation: rows("wsc.fixed") },
    };
  },
};

function theorems(count: number): Row[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `sum_${at}`,
    informal_statement: `Show that ${at} plus 1 is ${at + 1}.`,
    informal_proof: "Count one further.",
    formal_proof: `theorem sum_${at} : ${at} + 1 = ${at + 1} := rfl`,
  }));
}

/** The configs of lm-eval's tasks in a folder of the installed package: the names that the real data set has. */
function subjectsOf(folder: string): string[] {
  const python = process.env.MLRB_PYTHON!;
  const [tasks] = globSync("../lib/python*/site-packages/lm_eval/tasks", { cwd: dirname(python) });
  const found = globSync(join(dirname(python), tasks!, folder, "*.yaml")).flatMap((file) => {
    const name = /^"?dataset_name"?: "?([^"\n]+)"?$/m.exec(readFileSync(file, "utf8"))?.[1];
    return name === undefined ? [] : [name];
  });
  return [...new Set(found)].sort();
}

/** As the hub keeps a set: CONFIG/SPLIT-00000-of-00001.parquet, and a card that says so. */
function published(set: DataSet): Files {
  const files: Files = {};
  const configs = Object.entries(set).map(([config, splits]) => ({
    config_name: config,
    data_files: Object.entries(splits).map(([split, rows]) => {
      const path = `${config === "default" ? "data" : config}/${split}-00000-of-00001.parquet`;
      files[path] = parquetOf(rows);
      return { split, path };
    }),
  }));
  return { ...files, "README.md": `---\nconfigs: ${JSON.stringify(configs)}\n---\n# A double\n` };
}

function parquetOf(rows: Row[]): Buffer {
  const names = Object.keys(rows[0]!);
  const columnData = names.map((name) => {
    const data = rows.map((row) => row[name]);
    const isNested = typeof data[0] === "object";
    return { name, data, ...(isNested && { type: "JSON" as const }) };
  });
  return Buffer.from(parquetWriteBuffer({ columnData }));
}

/** The files of tiny models, by source; the program makes those that it is asked for. */
function models(names: string[]): Record<string, Files> {
  if (names.length === 0) return {};
  const folder = mkdtempSync(join(tmpdir(), "mlrb-models-"));
  try {
    const program = join(import.meta.dirname, "official_models.py");
    execFileSync(process.env.MLRB_PYTHON!, warmArguments([program, folder, ...names]), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    return Object.fromEntries(names.map((name) => [name, filesIn(join(folder, name))]));
  } finally {
    removeFolder(folder);
  }
}

function filesIn(folder: string): Files {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(folder, path), readFileSync(path)];
    }),
  );
}

/** Publishes doubles of the sources in `sources/`, or of `only` some; returns the commit of each, by source. */
export function publishSources(hub: LoopbackHub, only?: string[]): Record<string, string> {
  const sources = readdirSync(join(repository, "sources"))
    .filter((file) => file.endsWith(".yaml") && (only?.includes(file.slice(0, -".yaml".length)) ?? true))
    .map((file) => parse(readFileSync(join(repository, "sources", file), "utf8")) as Record<string, string>);
  const made = models(sources.filter(({ type }) => type === "model").map(({ name }) => name!));
  const commits = sources.map(({ name, type, repository: id }) => {
    const isModel = type === "model";
    const files = isModel ? made[name!]! : published(dataSets[name!]!());
    const { commits } = hub.commit(isModel ? "model" : "dataset", id!, files, { license: "mit" });
    return [name!, commits[0]!.sha];
  });
  return Object.fromEntries(commits);
}
