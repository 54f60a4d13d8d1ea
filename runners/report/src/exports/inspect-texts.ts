// Long texts of an attempt as attachments of an Inspect log: what refers to one says `attachment://DIGEST`, and each
// stands once in the sample. Only their digests are held; contents are read when they are written.
import type { LongText } from "@mlrb/formats/attempt/trajectory";
import type { AttemptSource } from "./attempt-source.ts";

/** Of one text; a longer one is cut with words. */
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
    // one that looks like a reference would be taken for one
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

  /** In place, for where Inspect follows no reference; what is longer is cut with words. */
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
