// Parses a YAML file and keeps positions, so that a later problem can be shown at its place. Parsing runs no code,
// follows no tag and gives plain JSON data.
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from "yaml";
import { formatBytes } from "../text/units.ts";
import { checkYaml, type Spot } from "./check-yaml.ts";
import type { Diagnostic, Place } from "./diagnostic.ts";

export type Path = readonly (string | number)[];

export type YamlSource<Value = unknown> = {
  file: string;
  value: Value;
  /** Problems of the YAML that leave the file readable, e.g. equal keys. */
  problems: Diagnostic[];
  /** The place of the value at `path`, or of its key. Falls back to the nearest existing parent. */
  place(path: Path, at?: "key" | "value"): Place;
  /** The place of `word` within the value (or the key) at `path`; the whole value if the word does not occur. */
  placeOf(path: Path, word: string, at?: "key" | "value"): Place;
};

/** Parsing takes 30 µs a value, so a list of a million is refused. */
const bytesMax = 512 << 10;

/** The source, or all syntax errors. */
export function parseYaml(file: string, withMark: string): YamlSource | Diagnostic[] {
  const bytes = Buffer.byteLength(withMark);
  if (bytes > bytesMax)
    return [
      {
        code: "too-long",
        message: `${file} has ${formatBytes(bytes)}; at most ${formatBytes(bytesMax)} of YAML are read`,
        help: "shorten generated lists, or split the pipeline",
      },
    ];
  const text = withMark.replace(/^\ufeff/, "");
  const lines = new LineCounter();
  for (const { index } of text.matchAll(/^|(?<=\n)/g)) lines.addNewLine(index);
  const place = (from: number, to: number) => placeAt(from, to, { file, text, lines });
  const problem = ({ from, to, soft: _, ...rest }: Spot): Diagnostic => ({
    code: "yaml-syntax",
    ...rest,
    place: place(from, to),
  });
  const odd = oddCharacter(text);
  if (odd) return [problem(odd)];
  let document: Document.Parsed;
  let value: unknown;
  let soft: Spot[];
  try {
    // check-yaml finds equal keys: the parser compares each pair
    document = parseDocument(text, { prettyErrors: false, strict: true, uniqueKeys: false });
    const spots = [...syntaxProblems(document, text), ...checkYaml(document)];
    soft = spots.filter((spot) => spot.soft);
    if (soft.length < spots.length) return onePerLine(spots.map(problem));
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    const at = Math.max(0, text.search(/(?<=[\s[{,:])\*[\w-]/));
    return [problem({ ...troubleOf(error), from: at, to: at + 1 })];
  }
  const index = pairIndex();
  return {
    file,
    value,
    problems: soft.map(problem),
    place: (path, at = "value") => place(...rangeOf(document, { path, at, index })),
    placeOf(path, word, at = "value") {
      const [from, to] = rangeOf(document, { path, at, index });
      const found = text.indexOf(word, from);
      return found < 0 || found + word.length > to ? place(from, to) : place(found, found + word.length);
    },
  };
}

/** The first character that is not UTF-8 or controls a terminal. */
function oddCharacter(text: string): Spot | undefined {
  const at = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffd]|[\u0080-\u0084\u0086-\u009f]/);
  if (at < 0) return undefined;
  if (text[at] === "\ufffd")
    return {
      code: "not-utf8",
      message: "the file is not UTF-8 text",
      from: at,
      to: at + 1,
      help: "save it as UTF-8",
    };
  const name = `U+${text.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0")}`;
  return { message: `the control character ${name} is not allowed in YAML`, from: at, to: at + 1 };
}

function troubleOf(error: unknown): { message: string; help?: string } {
  if (error instanceof RangeError) return { message: "lists and tables are nested too deeply" };
  if (error instanceof ReferenceError)
    return { message: "aliases (*name) repeat more than can be read", help: "write the values out" };
  throw error;
}

/** The parser's errors, worded with a way out. */
function syntaxProblems(document: Document.Parsed, text: string): Spot[] {
  const found = [...document.errors, ...document.warnings];
  if (found.some(({ message }) => /call stack/.test(message)))
    return [{ message: "lists and tables are nested too deeply", from: 0, to: 1 }];
  const end = text.trimEnd().length;
  return found.map(({ message, pos, code }): Spot => {
    const open = /Flow (sequence|map) .* end with a ([\]}])/.exec(message);
    const known = open ? unclosed(open[2]!) : (words[code] ?? {});
    const first = (known.message ?? message).replace(/\n[\s\S]*/, "");
    // an error at the end of the file is shown under the last character, a bad indent under the indented text
    const written = pos[0] >= end && end > 0 ? end - 1 : pos[0];
    const from = code === "BAD_INDENT" ? written + /^ */.exec(text.slice(written))![0].length : written;
    const help = known.help ?? undefined;
    return { message: first, from, to: Math.max(from + 1, pos[1]), ...(help && { help }) };
  });
}

const words: Record<string, { message?: string; help?: string }> = {
  TAB_AS_INDENT: { message: "a tab is used as indentation", help: "indent with spaces" },
  MULTIPLE_DOCS: {
    message: "a second document begins here",
    help: "a file holds one document: remove the ---",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "a key inside a one-line value",
    help: 'quote text that holds ": ", or put the table on lines of its own',
  },
  BAD_SCALAR_START: { help: "put the text in quotes" },
  TAG_RESOLVE_FAILED: { help: "tags are not used here; quote text that begins with !" },
  UNEXPECTED_TOKEN: { help: 'quote text that begins with {, [ or another sign, e.g. "{task}/data.ts"' },
  BAD_INDENT: { help: "indent the entries of one table equally, deeper than their key" },
  MISSING_CHAR: { help: "a quote, bracket or colon is missing here or before" },
};

function unclosed(bracket: string): { message: string; help: string } {
  const message = `a "${bracket}" is missing`;
  return { message, help: "close the bracket here or before, or indent its contents" };
}

/** One slip often causes several errors; the first on each line is kept. */
function onePerLine(problems: Diagnostic[]): Diagnostic[] {
  const seen = new Set<number>();
  return problems.filter(({ place }) => !seen.has(place!.line) && seen.add(place!.line));
}

type PairIndex = (map: YAMLMap<unknown, unknown>, key: string) => Pair<Node, Node | null> | undefined;

/** Finds a pair by its key, in constant time after the first lookup in a map. */
function pairIndex(): PairIndex {
  const known = new WeakMap<object, Map<string, Pair<Node, Node | null>>>();
  return (map, key) => {
    const pairs = known.getOrInsertComputed(map, () => {
      const items = map.items as Pair<Node, Node | null>[];
      return new Map(items.flatMap((item) => (isScalar(item.key) ? [[String(item.key.value), item]] : [])));
    });
    return pairs.get(key);
  };
}

function rangeOf(
  document: Document.Parsed,
  from: { path: Path; at: "key" | "value"; index: PairIndex },
): [number, number] {
  let node: Node | null = document.contents;
  let range = rangeOfNode(node);
  for (const [depth, step] of from.path.entries()) {
    let key: Node | null = null;
    let next: Node | null = null;
    if (isAlias(node)) break;
    if (isMap(node)) {
      const pair = from.index(node, String(step));
      if (!pair) break;
      key = pair.key;
      next = pair.value;
    } else if (isSeq(node)) {
      next = (node.items[Number(step)] as Node | undefined) ?? null;
    }
    if (!next && !key) break;
    const last = depth === from.path.length - 1;
    // an empty value has no text to show: show its key
    const blank = isScalar(next) && next.range && next.range[0] === next.range[1];
    const shown = (last && from.at === "key") || blank ? (key ?? next) : (next ?? key);
    range = rangeOfNode(shown) ?? range;
    node = next;
  }
  return range ?? [0, 1];
}

function rangeOfNode(node: Node | null): [number, number] | undefined {
  return node?.range ? [node.range[0], node.range[1]] : undefined;
}

type Lines = { file: string; text: string; lines: LineCounter };

function placeAt(start: number, end: number, { file, text, lines }: Lines): Place {
  const offset = Math.max(0, Math.min(start, text.length));
  const { line, col: column } = lines.linePos(offset);
  const { lineStarts } = lines;
  const excerpt = text.slice(lineStarts[line - 1], lineStarts[line] ?? text.length).replace(/\r?\n?$/, "");
  const length = Math.max(1, Math.min(end - offset, excerpt.trimEnd().length - (column - 1)));
  return { file, line, column, excerpt, length };
}
