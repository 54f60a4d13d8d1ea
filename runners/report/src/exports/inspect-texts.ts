// Long texts of an attempt as attachments of an Inspect log. A reference is `attachment://DIGEST`; the sample
// holds each attachment once. Only digests are kept in memory; contents are read while they are written.
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource } from "./attempt-source.ts";

/** Longest text in bytes; a longer one is cut, with a note. */
const bytesMax = 64 << 20;
const inlineMax = 1 << 20;

type Long = Exclude<LongText, string>;

export class InspectTexts {
  readonly #source: AttemptSource;
  readonly #referred = new Map<string, Long>();

  constructor(source: AttemptSource) {
    this.#source = source;
  }

  /** A short text as it is. */
  reference(text: LongText): string {
    // Inspect would read a text that looks like a reference as one
    if (typeof text === "string")
      return text.startsWith("attachment://") || text.startsWith("tc://") ? ` ${text}` : text;
    if (!this.#referred.has(text.digest)) this.#referred.set(text.digest, text);
    return `attachment://${text.digest}`;
  }

  whole(text: LongText, max: number): string | undefined {
    if (typeof text === "string") return text;
    const { text: found, missing } = this.#source.whole(text, max);
    return missing === null ? found : undefined;
  }

  /** In place, where Inspect follows no reference; a longer text is cut, with a note. */
  inline(text: LongText): string {
    const { text: found, missing } = this.#source.whole(text, inlineMax);
    return missing === null ? found : `${found}\n[${missing}]`;
  }

  *entries(): Generator<[string, string]> {
    for (const [digest, long] of this.#referred) {
      const { text, missing } = this.#source.whole(long, bytesMax);
      yield [digest, missing === null ? text : `${text}\n[${missing}]`];
    }
  }
}
