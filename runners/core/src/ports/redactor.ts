// Replaces secrets in a stream of bytes. Stages are handed secrets, and some print them: in an error, in a
// request that they log. What is found is the value itself and the forms that programs commonly give it.
// What a program makes of it otherwise (cut in two, encrypted, drawn) is not found: this keeps accidents
// out of logs, not a thief.

/** Shorter ones are left alone: `1` or `dev` stands everywhere in a log, and replacing it would tell it. */
const secretCharsMin = 6;

/** A piece of base64 shorter than this may stand in a log by chance. */
const pieceCharsMin = 8;

type Needle = { name: string; bytes: Buffer };

/** Bytes in, bytes out, a little later: what may be the beginning of a secret is held back. */
export class Redactor {
  readonly #needles: Needle[];
  /** How many bytes may be the beginning of something longer. */
  readonly #back: number;
  #held = Buffer.alloc(0);
  /** So many bytes of `#held` belong to what was replaced already. */
  #covered = 0;

  /** `secrets`: values by name. */
  constructor(secrets: Record<string, string>) {
    this.#needles = Object.entries(secrets).flatMap(([name, value]) =>
      formsOf(value).map((form) => ({ name, bytes: Buffer.from(form) })),
    );
    this.#back = Math.max(0, ...this.#needles.map(({ bytes }) => bytes.length - 1));
  }

  /** How long a part of a secret may be that is not the whole of it. */
  get halfBytesMax(): number {
    return this.#back;
  }

  push(bytes: Buffer): Buffer {
    this.#held = Buffer.concat([this.#held, bytes]);
    return this.#letGo(Math.max(0, this.#held.length - this.#back));
  }

  /** The rest. */
  end(): Buffer {
    return this.#letGo(this.#held.length);
  }

  /** Gives everything before `until`; what begins there can be seen whole. */
  #letGo(until: number): Buffer {
    const given: Buffer[] = [];
    let done = this.#covered;
    for (const { start, end, name } of this.#found(until)) {
      // one that overlaps with another is part of the same replacement: its rest must not stay
      if (start >= done) given.push(this.#held.subarray(done, start), Buffer.from(`[redacted ${name}]`));
      done = Math.max(done, end);
    }
    if (done < until) given.push(this.#held.subarray(done, until));
    this.#covered = Math.max(0, done - until);
    this.#held = this.#held.subarray(until);
    return Buffer.concat(given);
  }

  /** By where they begin, longer ones first. */
  #found(until: number): { start: number; end: number; name: string }[] {
    const found: { start: number; end: number; name: string }[] = [];
    for (const { name, bytes } of this.#needles) {
      let start = this.#held.indexOf(bytes);
      for (; start >= 0 && start < until; start = this.#held.indexOf(bytes, start + 1))
        found.push({ start, end: start + bytes.length, name });
    }
    return found.sort((a, b) => a.start - b.start || b.end - a.end);
  }
}

/** Takes `secrets` (values by name) out of texts that stand whole; longer forms first, since short ones are parts of them. */
export function textRedactor(secrets: Record<string, string>): (text: string) => string {
  const needles = Object.entries(secrets)
    .flatMap(([name, value]) => formsOf(value).map((form) => ({ name, form })))
    .sort((a, b) => b.form.length - a.form.length);
  if (needles.length === 0) return (text) => text;
  return (text) => {
    let rest = text;
    for (const { name, form } of needles)
      if (rest.includes(form)) rest = rest.replaceAll(form, `[redacted ${name}]`);
    return rest;
  };
}

/** What a secret looks like where programs print it; none of a value that is too short. */
export function formsOf(secret: string): string[] {
  const value = secret.toWellFormed().trim();
  if ([...value].length < secretCharsMin) return [];
  return [...new Set([value, ...jsonForms(value), ...urlForms(value), ...base64Forms(value)])];
}

/** As JSON writes it, and as those do that write it in ASCII. */
function jsonForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const inAscii = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [json, json.replace(/[^\x20-\x7e]/g, inAscii)];
}

/** In a path, a query and a form; programs differ in what they leave as it is, and in the case of the digits. */
function urlForms(value: string): string[] {
  const loose = encodeURIComponent(value);
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  const strict = loose.replace(/[!'()*]/g, hex);
  const some = [loose, strict, encodeURI(value)];
  const more = some.flatMap((text) => [text, text.replaceAll("%2F", "/"), text.replaceAll("%20", "+")]);
  return more.flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/** Whole, and within something longer, as in `Authorization: Basic`: there, what only the value decides. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  const forms: string[] = [bytes.toString("base64"), bytes.toString("base64url")];
  for (const before of [0, 1, 2]) {
    const within = Buffer.concat([Buffer.alloc(before), bytes]);
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((within.length * 8) / 6);
    for (const alphabet of ["base64", "base64url"] as const)
      forms.push(within.toString(alphabet).slice(first, last));
  }
  return forms.filter((form) => form.length >= pieceCharsMin);
}
