// What the rules see of an event of a trajectory: its facts in one plain form, whatever stood in the line. A
// trajectory may have been through many hands, so no field is believed to be there or to be what it should.
import { isTable } from "./agent-line.ts";

export type Seen = { index: number; sinceStartMs: number; time: string } & Fact;

type Fact =
  | { kind: "start"; budgetMs: number | null }
  | { kind: "exec" }
  | { kind: "exec-end"; how: string; code: number | null; over: string | null }
  | { kind: "output"; text: string; clipped: boolean }
  | { kind: "claim"; line: string }
  | { kind: "snapshot"; name: string; digest: string; files: number; torn: number; gone: string[] }
  | {
      kind: "model-call";
      by: string;
      text: string;
      refusal: boolean;
      tokens: number | null;
      dollars: number | null;
    }
  | { kind: "model-try"; whose: string; cause: string; last: boolean }
  | { kind: "tool-call"; key: string; by: string; name: string; command: string | null; input: string }
  | {
      kind: "tool-result";
      key: string;
      outcome: string;
      failed: boolean;
      text: string;
      clipped: boolean;
      executed: boolean;
      lost: boolean;
    }
  | { kind: "end"; ended: string }
  | { kind: "other" };

const textMax = 1 << 16;

/** `line` is a parsed line of a trajectory; undefined where it is not even an object. */
export function seenEvent(line: unknown): Seen | undefined {
  if (!isTable(line)) return undefined;
  const stamp = {
    index: whole(line.index),
    sinceStartMs: whole(line.sinceStartMs),
    time: text(line.time).slice(0, 40),
  };
  return { ...stamp, ...fact(line) };
}

function fact(line: Record<string, unknown>): Fact {
  const by = text(line.by).slice(0, 80);
  const long = longText(line.text);
  switch (line.event) {
    case "start": {
      const budget = isTable(line.budget) ? line.budget.wallMs : null;
      return { kind: "start", budgetMs: finite(budget) };
    }
    case "exec":
      return { kind: "exec" };
    case "exec-end": {
      const result = isTable(line.result) ? line.result : {};
      const over = isTable(result.over) ? text(result.over.limit) : null;
      return { kind: "exec-end", how: text(result.kind), code: finite(result.code), over };
    }
    case "output":
      return { kind: "output", ...long };
    case "output-clipped":
      return { kind: "output", text: "", clipped: true };
    case "iteration":
      return { kind: "claim", line: text(line.line) };
    case "snapshot":
      return {
        kind: "snapshot",
        name: text(line.name),
        digest: text(line.digest),
        files: whole(line.files),
        torn: Array.isArray(line.torn) ? line.torn.length : 0,
        gone: Array.isArray(line.gone) ? line.gone.slice(0, 100).map(text) : [],
      };
    case "model-call": {
      const usage = isTable(line.usage) ? line.usage : undefined;
      return {
        kind: "model-call",
        by,
        text: long.text,
        refusal: line.finish === "refusal",
        tokens: usage ? whole(usage.inputTokens) + whole(usage.outputTokens) : null,
        dollars: finite(line.dollars),
      };
    }
    case "model-try":
      return {
        kind: "model-try",
        whose: text(line.whose),
        cause: text(line.cause).slice(0, 80),
        last: line.waitMs === null,
      };
    case "tool-call": {
      const input = longText(line.input).text;
      const name = text(line.name).slice(0, 80);
      return { kind: "tool-call", key: `${by}/${text(line.id)}`, by, name, command: commandOf(input), input };
    }
    case "tool-result":
      return {
        kind: "tool-result",
        key: `${by}/${text(line.id)}`,
        outcome: text(line.outcome),
        failed: line.outcome !== "done" || exitFailed(line.exit),
        text: long.text,
        clipped: long.clipped || typeof line.rest === "string",
        executed: line.executed === true,
        lost: line.whose === "sandbox" || /\bsandbox (is gone|ended|was lost|died)\b/i.test(long.text),
      };
    case "end":
      return { kind: "end", ended: text(line.ended) };
    default:
      return { kind: "other" };
  }
}

/** The program that a tool was asked to run: `{"command": …}`, `{"code": …}` or the like. */
function commandOf(input: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(input);
  } catch {
    return /^\s*\{/.test(input) ? input : null; // cut short, so no JSON any more
  }
  if (!isTable(value)) return null;
  const { command, cmd, code, script } = value;
  const found = [command, cmd, code, script].find((one) => typeof one === "string" || Array.isArray(one));
  if (found === undefined) return null;
  return (Array.isArray(found) ? found.map(String).join(" ") : String(found)).slice(0, textMax);
}

function exitFailed(exit: unknown): boolean {
  return isTable(exit) && (typeof exit.signal === "string" || (finite(exit.code) ?? 0) !== 0);
}

/** A long text's beginning, and whether that is all of it. */
function longText(value: unknown): { text: string; clipped: boolean } {
  if (isTable(value)) return { text: text(value.head), clipped: true };
  return { text: text(value), clipped: false };
}

function text(value: unknown): string {
  return typeof value === "string" ? value.slice(0, textMax) : "";
}

function finite(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

function whole(value: unknown): number {
  return typeof value === "number" && value >= 0 && value < Number.MAX_SAFE_INTEGER ? Math.round(value) : 0;
}
