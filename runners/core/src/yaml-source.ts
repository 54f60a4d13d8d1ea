// A YAML file with its positions, so that whatever turns out to be wrong later can be shown where it
// stands. Parsing imports no code and follows no tag.
import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
} from "yaml";
import type { Diagnostic, Place } from "./diagnostic.ts";

export type Path = readonly (string | number)[];

export type YamlSource = {
  file: string;
  value: unknown;
  /** Where the value at `path` stands; with `at: "key"` its key. Falls back to the nearest parent that exists. */
  place(path: Path, at?: "key" | "value"): Place;
};

/** Parses `text`. On syntax errors (all of them) there is no source. */
export function parseYaml(file: string, text: string): YamlSource | Diagnostic[] {
  const lines = new LineCounter();
  let document: Document.Parsed;
  try {
    document = parseDocument(text, { lineCounter: lines, prettyErrors: false, strict: true });
  } catch (error) {
    return [
      { code: "yaml-syntax", message: (error as Error).message, place: placeAt(file, text, lines, 0, 1) },
    ];
  }
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0) {
    return problems.map(({ message, pos, code }) => ({
      code: "yaml-syntax",
      message: message.replace(/\n[\s\S]*/, ""),
      place: placeAt(file, text, lines, pos[0], pos[1]),
      ...syntaxHelp(code),
    }));
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    return [
      { code: "yaml-syntax", message: (error as Error).message, place: placeAt(file, text, lines, 0, 1) },
    ];
  }
  return {
    file,
    value,
    place(path, at = "value") {
      const [from, to] = rangeOf(document, path, at);
      return placeAt(file, text, lines, from, to);
    },
  };
}

function syntaxHelp(code: string): { help?: string } {
  if (code === "DUPLICATE_KEY") return { help: "each name may stand once; rename or remove one of the two" };
  if (code === "TAB_AS_INDENT") return { help: "YAML is indented by spaces" };
  return {};
}

function rangeOf(document: Document.Parsed, path: Path, at: "key" | "value"): [number, number] {
  let node: Node | null = document.contents;
  let range = rangeOfNode(node);
  for (const [depth, step] of path.entries()) {
    let key: Node | null = null;
    let next: Node | null = null;
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step)) as
        | Pair<Node, Node | null>
        | undefined;
      if (!pair) break;
      key = pair.key;
      next = pair.value;
    } else if (isSeq(node)) {
      next = (node.items[Number(step)] as Node | undefined) ?? null;
    }
    if (!next && !key) break;
    const last = depth === path.length - 1;
    range = rangeOfNode((last && at === "key" ? (key ?? next) : (next ?? key)) ?? null) ?? range;
    node = next;
  }
  return range ?? [0, 1];
}

function rangeOfNode(node: Node | null): [number, number] | undefined {
  return node?.range ? [node.range[0], node.range[1]] : undefined;
}

function placeAt(file: string, text: string, lines: LineCounter, from: number, to: number): Place {
  const { line, col } = lines.linePos(Math.min(from, text.length));
  const start = lines.lineStarts[line - 1] ?? 0;
  const next = lines.lineStarts[line];
  const excerpt = text.slice(start, next === undefined ? text.length : next).replace(/\r?\n$/, "");
  const length = Math.max(1, Math.min(to - from, excerpt.trimEnd().length - (col - 1)));
  return { file, line: Math.max(1, line), column: Math.max(1, col), excerpt, length };
}
