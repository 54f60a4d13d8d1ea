// Which values an axis can have: as they are listed, and as `--set` chooses them.
import type { Scalar } from "@mlrb/formats/declared/pipeline";
import { isManifestKind } from "../spec/manifest.ts";
import type { Diagnostic, Place } from "../yaml/diagnostic.ts";
import { didYouMean } from "../yaml/suggest.ts";

/** The place of an item of a list by its index, or of the whole list without one. */
export type Places = (...index: number[]) => Place;

export function isScalars(value: unknown): value is Scalar[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" || typeof item === "number");
}

/** What a value of an axis may be: it becomes part of names of instances, of `--only` patterns and of folders. */
const valuePattern = /^[\p{L}\p{N}_-][\p{L}\p{N}\p{M}_.%@:+~-]{0,99}$/u;
const valueHelp = "letters, digits and . _ - % @ : + ~, at most 100; the first is a letter, a digit, _ or -";

/** The values that can be used; the others are problems. */
export function usable(values: Scalar[], place: Places, problems: Diagnostic[]): Scalar[] {
  const seen = new Set<string>();
  return values.filter((value, index) => {
    const text = String(value);
    if (!valuePattern.test(text)) {
      const message = `"${text}" cannot be an axis value`;
      problems.push({ code: "bad-value", message, place: place(index), help: valueHelp });
      return false;
    }
    const twice = seen.has(text);
    seen.add(text);
    if (twice) {
      const message = `"${text}" is listed twice`;
      problems.push({ code: "duplicate", message, place: place(index), help: "remove one" });
    }
    return !twice;
  });
}

/** A `--set` may name any task, agent or scorer that exists, any whole number where the axis has numbers, else a listed value. */
export function chosen(
  axis: string,
  listed: Scalar[],
  set: string[] | undefined,
  problems: Diagnostic[],
): Scalar[] {
  if (!set) return listed;
  const numbers = listed.every((value) => typeof value === "number");
  const byText = new Map(listed.map((value) => [String(value), value]));
  return [...new Set(set)].flatMap((text): Scalar[] => {
    const same = byText.get(text);
    if (same !== undefined) return [same];
    if (isManifestKind(axis) && valuePattern.test(text)) return [text];
    // only the one way to write a number: 1 and 01 would be two instances of one name
    if (numbers && /^(0|-?[1-9]\d*)$/.test(text) && Number.isSafeInteger(Number(text))) return [Number(text)];
    const message = `axis "${axis}" has no value "${text}"`;
    problems.push({ code: "unknown-value", message, help: didYouMean(text, listed.map(String)) });
    return [];
  });
}
