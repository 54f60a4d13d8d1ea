// Splits a lock into what pip installs in one command each, and leaves out what cannot be on this machine.
// Whether an optional pin can be installed is asked of its tag, before pip runs: pip's own answer to "no
// file for this machine" and to "no network" is the same, and a package that silently stayed away because
// of the network would turn scores into "not measured". Pure.
import { type Lock, type Pin, pinText, type Section } from "./lock-file.ts";

export type Parts = {
  /** Texts of requirement files; empty where there is nothing of the kind. */
  wheels: string;
  sources: string;
  unhashed: string;
  alone: string;
  /** Every version of the lock without hashes, for what an unhashed package brings. */
  versions: string;
  leftOut: Pin[];
};

/** `tags` are the wheel tags that this machine's pip takes. */
export function pipParts(lock: Lock, tags: Iterable<string>): Parts {
  const taken = new Set(tags);
  const leftOut = lock.pins.filter(
    ({ section, only }) => section === "optional" && !only.some((tag) => taken.has(tag)),
  );
  const pins = lock.pins.filter((pin) => !leftOut.includes(pin));
  const text = (...wanted: Section[]) =>
    pins
      .filter(({ section }) => wanted.includes(section))
      .map((pin) => `${pinText(pin)}\n`)
      .join("");
  return {
    wheels: text("wheels", "optional"),
    sources: text("sources"),
    unhashed: text("unhashed"),
    alone: text("alone"),
    versions: pins
      .filter(({ section }) => section !== "alone")
      .map((pin) => `${pinText({ ...pin, hashes: [] })}\n`)
      .join(""),
    leftOut,
  };
}

/** What the log says of a pin that is left out. */
export function leftOutText({ name, version, only, without }: Pin): string {
  return `left out: ${name} ${version}, whose files are for ${only.join(" or ")}; this machine runs none of them.${without ? ` ${without}` : ""}`;
}
