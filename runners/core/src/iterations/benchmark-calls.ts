// Counts the tool calls that name a scored benchmark, by the names that task.yaml lists. A name in a call does not
// show what the call did; docs/measures.md says what the number cannot show.
import type { BenchmarkCalls } from "@mlrb/formats/attempt/iterations";
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";

/** Tools whose arguments only say something: nothing is run, fetched or written to a file by them. */
const onlyWords =
  /^(?:note|iteration|submit|delegate|return_result|send_message|read_messages|think|task|todo_?write|write_todos|update_plan|exit_?plan_?mode|save_memory)$/i;

/** Characters that are searched of one call. The rest of a longer text is in an attachment, which is not read. */
const searchedMax = 1 << 16;

type Tally = { calls: number; searched: number; names: Set<string> };

export class BenchmarkCallCounter {
  readonly #patterns: { name: string; pattern: RegExp }[];
  /**
   * By member of a team: calls that the supervisor carried out, and those that a model asked for. An agent that is a
   * program carries these out itself.
   */
  readonly #tallies = new Map<string | undefined, { carriedOut: Tally; askedFor: Tally }>();

  /** `names`: `publicNames` of task.yaml, of the kind of data that is scored. */
  constructor(names: readonly string[]) {
    this.#patterns = [...new Set(names)].sort().map((name) => ({ name, pattern: wholeWord(name) }));
  }

  take(event: TrajectoryEvent): void {
    if (event.event !== "tool-call" && event.event !== "model-call") return;
    const made = () => ({ carriedOut: tally(), askedFor: tally() });
    const { carriedOut, askedFor } = this.#tallies.getOrInsertComputed(event.member, made);
    if (event.event === "tool-call") this.#count(carriedOut, event);
    else for (const call of event.toolCalls) this.#count(askedFor, call);
  }

  /** Calls that were carried out are counted; where none was recorded, those that a model asked for. */
  end(): BenchmarkCalls {
    if (this.#patterns.length === 0) return { kind: "not-measured", reason: "no-public-names" };
    const found = [...this.#tallies.values()]
      .map(({ carriedOut, askedFor }) => (carriedOut.searched > 0 ? carriedOut : askedFor))
      .filter(({ searched }) => searched > 0);
    if (found.length === 0) return { kind: "not-measured", reason: "no-tool-calls" };
    const names = new Set(found.flatMap((one) => [...one.names]));
    const calls = found.reduce((sum, one) => sum + one.calls, 0);
    return { kind: "counted", calls, names: [...names].sort() };
  }

  #count(into: Tally, { name, input }: { name: string; input: LongText }): void {
    into.searched++;
    if (this.#patterns.length === 0 || onlyWords.test(name.slice(0, 80))) return;
    const text = unescaped((typeof input === "string" ? input : input.head).slice(0, searchedMax));
    const named = this.#patterns.filter(({ pattern }) => pattern.test(text));
    if (named.length > 0) into.calls++;
    for (const one of named) into.names.add(one.name);
  }
}

function tally(): Tally {
  return { calls: 0, searched: 0, names: new Set() };
}

/**
 * Letters and digits make words, so `mmlu` is in `cais/mmlu` and `mmlu_anatomy`. The n of an escaped line break
 * within a string of a program is not part of the next word.
 */
function wholeWord(name: string): RegExp {
  return new RegExp(`(?<=^|[^\\p{L}\\p{N}]|\\\\[nrt])${RegExp.escape(name)}(?![\\p{L}\\p{N}])`, "iu");
}

/** A JSON text with its escapes resolved. Not parsed: a long text is cut, and a model may send anything. */
function unescaped(json: string): string {
  return json.replace(/\\(?:u([0-9a-f]{4})|([^u]))/gi, (_, code: string | undefined, one: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return /[nrtbf]/.test(one) ? " " : one;
  });
}
