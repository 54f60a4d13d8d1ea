// Reports what the YAML parser accepts and a pipeline cannot use: equal keys, keys that are not text, numbers that
// JSON cannot hold, aliases without an anchor or inside their own anchor, deep nesting.
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap } from "yaml";
import { didYouMean } from "./suggest.ts";

/** A problem at offsets of the text. After a soft one the rest of the file is still checked. */
export type Spot = { code?: string; message: string; from: number; to: number; help?: string; soft?: true };

const depthMax = 64;

export function checkYaml(document: Document.Parsed): Spot[] {
  const spots: Spot[] = [];
  const version = document.directives?.yaml.version;
  if (version !== undefined && version !== "1.2") {
    const message = `YAML ${version} reads values such as yes and 1:30 in its own way`;
    spots.push({ message, from: 0, to: 5, help: "remove the %YAML line" });
  }
  walk(document.contents, { spots, open: [], anchors: new Set() });
  return spots;
}

type Walk = { spots: Spot[]; open: string[]; anchors: Set<string> };

function walk(node: Node | null, state: Walk): void {
  if (node === null) return;
  const { spots, open, anchors } = state;
  const [from, to] = node.range ?? [0, 1];
  const wrong = (message: string, help?: string) =>
    spots.push({ message, from, to, ...(help !== undefined && { help }) });
  if (isAlias(node)) {
    const { source } = node;
    if (open.includes(source)) wrong(`*${source} is inside the value that it repeats`);
    else if (!anchors.has(source))
      wrong(`no anchor &${source} before this alias`, didYouMean(source, anchors));
    return;
  }
  if (isScalar(node)) {
    if (node.anchor) anchors.add(node.anchor);
    const problem = scalarProblem(node);
    if (problem) spots.push({ ...problem, from, to, soft: true });
    return;
  }
  if (open.length >= depthMax) {
    wrong("lists and tables are nested too deeply");
    return;
  }
  const anchor = "anchor" in node ? ((node.anchor as string | undefined) ?? "") : "";
  open.push(anchor);
  if (isSeq(node)) for (const item of node.items) walk(item as Node | null, state);
  if (isMap(node)) walkMap(node, state);
  open.pop();
  if (anchor) anchors.add(anchor);
}

function scalarProblem({ value, source }: Scalar): Omit<Spot, "from" | "to"> | undefined {
  if (typeof value === "number" && !Number.isFinite(value))
    return { code: "bad-number", message: `${source} is not a finite number` };
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    return {
      code: "bad-number",
      message: `${source} has more digits than a number can hold`,
      help: "quote it to keep it as text",
    };
  if (typeof value === "string" && /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(value))
    return { message: "the text holds a control character" };
  return undefined;
}

function walkMap(map: YAMLMap<unknown, unknown>, state: Walk): void {
  const keys = new Set<string>();
  for (const pair of map.items) {
    const key = pair.key as Node | null;
    if (!isScalar(key) || key.value === null || key.value === "") {
      const [from, to] = key?.range ?? map.range ?? [0, 1];
      state.spots.push({ message: "a key must be a name", from, to: Math.max(from + 1, to) });
    } else {
      const name = String(key.value);
      if (keys.has(name))
        state.spots.push({
          code: "duplicate",
          soft: true,
          message: `the key "${name}" appears twice`,
          from: key.range![0],
          to: key.range![1],
          help: "a key may appear once; rename or remove one of the two",
        });
      keys.add(name);
      walk(key, state);
    }
    walk(pair.value as Node | null, state);
  }
}
