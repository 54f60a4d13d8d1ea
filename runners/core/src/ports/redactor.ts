// Redacts secrets in a stream of bytes. Stages get secrets, and some print them in an error or in a logged
// request. The value itself and the usual encodings of it are found. Other forms (split, encrypted, drawn) are
// not: this prevents accidents, not theft.

/** Shorter secrets are not redacted: `1` or `dev` occurs everywhere in a log, and redacting it would reveal it. */
const secretCharsMin = 6;

/** A shorter piece of base64 may occur in a log by chance. */
const pieceCharsMin = 8;

/** By name; several values of a secret that has changed. */
export type SecretValues = Record<string, string | readonly string[]>;

type Needle = { name: string; bytes: Buffer };

/** Passes bytes on with a delay: the possible beginning of a secret is held back. */
export class Redactor {
  readonly #needles: Needle[];
  /** The number of bytes that may be the beginning of a secret. */
  readonly #back: number;
  #held = Buffer.alloc(0);
  /** The number of bytes at the start of `#held` that belong to a secret already replaced. */
  #covered = 0;

  constructor(secrets: SecretValues) {
    this.#needles = namedForms(secrets).map(({ name, form }) => ({ name, bytes: Buffer.from(form) }));
    this.#back = Math.max(0, ...this.#needles.map(({ bytes }) => bytes.length - 1));
  }

  /** The maximum length of an incomplete secret. */
  get halfBytesMax(): number {
    return this.#back;
  }

  push(bytes: Buffer): Buffer {
    this.#held = Buffer.concat([this.#held, bytes]);
    return this.#letGo(this.#firstBegin());
  }

  /** Where the first possible beginning of a secret at the end of `#held` is: a stream must not wait for more. */
  #firstBegin(): number {
    const { length } = this.#held;
    for (let at = Math.max(0, length - this.#back); at < length; at++) {
      const rest = this.#held.subarray(at);
      if (
        this.#needles.some(
          ({ bytes }) => bytes.length > rest.length && rest.equals(bytes.subarray(0, rest.length)),
        )
      )
        return at;
    }
    return length;
  }

  /** Flushes the rest. */
  end(): Buffer {
    return this.#letGo(this.#held.length);
  }

  /** Releases everything before `until`; a secret that begins before it is complete in `#held`. */
  #letGo(until: number): Buffer {
    const given: Buffer[] = [];
    let done = this.#covered;
    for (const { start, end, name } of this.#found(until)) {
      // an overlapping secret is part of the same replacement, so that no rest of it remains
      if (start >= done) given.push(this.#held.subarray(done, start), Buffer.from(`[redacted ${name}]`));
      done = Math.max(done, end);
    }
    if (done < until) given.push(this.#held.subarray(done, until));
    this.#covered = Math.max(0, done - until);
    this.#held = this.#held.subarray(until);
    return Buffer.concat(given);
  }

  /** Sorted by start, longer ones first. */
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

/** Redacts `secrets` in complete texts; longer forms first, since they contain shorter ones. */
export function textRedactor(secrets: SecretValues): (text: string) => string {
  const needles = namedForms(secrets).sort((a, b) => b.form.length - a.form.length);
  if (needles.length === 0) return (text) => text;
  return (text) => {
    let rest = text;
    for (const { name, form } of needles)
      if (rest.includes(form)) rest = rest.replaceAll(form, `[redacted ${name}]`);
    return rest;
  };
}

function namedForms(secrets: SecretValues): { name: string; form: string }[] {
  return Object.entries(secrets).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => formsOf(value).map((form) => ({ name, form }))),
  );
}

/** The forms in which programs print a secret; none for a value that is too short. */
export function formsOf(secret: string): string[] {
  const value = secret.toWellFormed().trim();
  if ([...value].length < secretCharsMin) return [];
  return [...new Set([value, ...jsonForms(value), ...urlForms(value), ...base64Forms(value)])];
}

/** As JSON, also escaped to ASCII. */
function jsonForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const inAscii = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [json, json.replace(/[^\x20-\x7e]/g, inAscii)];
}

/** In a path, a query and a form; programs differ in the characters that they escape and in the case of hex digits. */
function urlForms(value: string): string[] {
  const loose = encodeURIComponent(value);
  const hex = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
  const strict = loose.replace(/[!'()*]/g, hex);
  const some = [loose, strict, encodeURI(value)];
  const more = some.flatMap((text) => [text, text.replaceAll("%2F", "/"), text.replaceAll("%20", "+")]);
  return more.flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
}

/** The whole value, and the part of longer base64 that depends only on the value, as in `Authorization: Basic`. */
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
