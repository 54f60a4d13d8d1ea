// Finds what a program measured in its output: numbers in JSON, in the dictionaries that Transformers' Trainer
// prints, and in the tables of lm_eval. Other text is not read. Output is hostile: it is bounded, and every
// pattern takes time in proportion to its length.

/** `value` may be NaN or infinite. */
export type MeasuredValue = { name: string; split: string | null; value: number };
/** `known`: the name is one of a metric. */
type Named = { name: string; split: string | null; known: boolean };
type Placed = MeasuredValue & { at: number };

const textMax = 1 << 16;
const number = /^[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?)$/i;
const token =
  /"(?:[^"\\\n]|\\.){0,200}"|'(?:[^'\\\n]|\\.){0,200}'|[{}[\],:]|[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?(?![\w.])|[-+]?(?:nan|inf(?:inity)?)(?!\w)|[a-z_][\w.]{0,80}/gi;
const split = /^(train|training|dev|val|valid|validation|test|eval|evaluation|held-?out)(?:[-/.]|$)/;
/** What Trainer and TRL add to an evaluation that is no result of it, and the errors that lm_eval adds. */
const beside =
  /(?:^|[-/.])(?:runtime|time|(?:samples|steps)-per-second|epoch|steps?|seed|stderr|samples|tokens|size)$/;
/** Other numbers of JSON are settings, e.g. of a config.json. */
const metric =
  /(?:^|[-/.])(?:loss|nll|acc|accuracy|acc-norm|f1|em|exact-match|perplexity|ppl|bits-per-(?:byte|token)|bpb|score|mcc|auc|rouge[\w-]{0,8}|chrf|wer|cer|mse|mae|rmse|error|precision|recall|pass@\d+)$/;

/** In the order of their ends, including NaN and infinities. */
export function measuredValues(text: string): MeasuredValue[] {
  const part = text.slice(-textMax);
  return [...fromTables(part), ...fromDictionaries(part)]
    .sort((a, b) => a.at - b.at)
    .map(({ at: _, ...one }) => one);
}

/** Those of other data than the training's own. */
export function evaluatedValues(text: string): MeasuredValue[] {
  return measuredValues(text).filter((one) => one.split === null || !/^train/.test(one.split));
}

/** `isTrainers`: Trainer gives every evaluation its time. Elsewhere, `eval_…` of any name is mostly a setting. */
type Frame = {
  key: string | null;
  pending: string | null;
  found: (Placed & Named)[];
  trains: boolean;
  isTrainers: boolean;
};

/** JSON and Python's dictionaries. Only what a closing brace ends is taken: a cut number would be a wrong one. */
function fromDictionaries(text: string): Placed[] {
  const frames: Frame[] = [];
  const all: Placed[] = [];
  let last = "";
  token.lastIndex = 0;
  for (;;) {
    if (frames.length === 0) {
      const start = text.indexOf("{", token.lastIndex);
      if (start < 0) return all;
      token.lastIndex = start;
    }
    const found = token.exec(text);
    if (found === null) return all;
    const [word] = found;
    const frame = frames.at(-1);
    const quoted = /^["']/.test(word) ? word.slice(1, -1) : null;
    if (word === "{")
      frames.push({
        ...{ key: frame?.pending ?? null, pending: null, found: [] },
        ...{ trains: false, isTrainers: false },
      });
    else if (frame === undefined) continue;
    else if (word === "}") {
      frames.pop();
      for (const { known, ...one } of frame.found)
        if (known || frame.isTrainers)
          all.push({ ...one, split: one.split ?? (frame.trains ? "train" : null), at: found.index });
    } else if (word === ":") frame.pending = last;
    else if (word === "," || word === "[" || word === "]") frame.pending = null;
    else if (frame.pending !== null && number.test(quoted ?? word)) {
      // Transformers 5 prints its numbers as texts; NumPy and torch print `np.float64(3.4)` and `tensor(3.4)`
      frame.trains ||= /^(?:learning_rate|lr|grad_norm)$/.test(frame.pending);
      frame.isTrainers ||= /_(?:runtime|model_preparation_time)$/.test(frame.pending);
      const named = nameOf(frame.pending, frame.key);
      if (named) frame.found.push({ ...named, value: numberOf(quoted ?? word), at: found.index });
      frame.pending = null;
    }
    last = quoted ?? "";
  }
}

/** Name and split of a metric by its key and the key of its table; undefined for a key that names none. */
function nameOf(key: string, table: string | null): Named | undefined {
  const [plain = "", filter] = plainName(key).split(",", 2); // lm_eval writes `acc,none`
  const own = split.exec(plain);
  const above = table === null ? null : plainName(table);
  const name = plain.slice(own?.[0].length ?? 0);
  const of = own?.[1] ?? (above === null ? undefined : split.exec(above)?.[1]);
  const evaluates = own !== null && !/^train/.test(own[1]!);
  const known = metric.test(name);
  if (name === "" || beside.test(name) || !(evaluates || known)) return undefined;
  return { name: name.slice(0, 80), split: of ?? (filter === undefined ? null : above), known };
}

/** Rows below a head with the columns Tasks or Groups, Metric and Value; a row without a task continues the one above it. */
function fromTables(text: string): Placed[] {
  const found: Placed[] = [];
  let head: string[] = [];
  let task = "";
  let at = 0;
  for (const line of text.split("\n")) {
    const cells = /^\s{0,20}\|.*\|\s{0,20}$/.test(line) ? line.trim().slice(1, -1).split("|") : [];
    const row = cells.map((cell) => cell.trim());
    const [metricAt, valueAt] = [head.indexOf("Metric"), head.indexOf("Value")];
    if (row.includes("Metric") && row.includes("Value"))
      head = /^(?:Tasks?|Groups)$/.test(row[0]!) ? row : [];
    else if (row.length === 0) head = [];
    else if (head.length === row.length && number.test(row[valueAt]!)) {
      task = row[0]!.replace(/^-\s{0,4}/, "") || task;
      const name = plainName(row[metricAt]!).slice(0, 80);
      if (!beside.test(name))
        found.push({ name, split: task.slice(0, 80) || null, value: numberOf(row[valueAt]!), at });
    }
    at += line.length + 1;
  }
  return found;
}

function plainName(key: string): string {
  return key.toLowerCase().replace(/[ _]/g, "-");
}

function numberOf(text: string): number {
  if (/nan/i.test(text)) return Number.NaN;
  return /inf/i.test(text) ? (text.startsWith("-") ? -Infinity : Infinity) : Number(text);
}
