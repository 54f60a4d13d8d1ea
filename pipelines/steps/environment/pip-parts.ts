// Splits a lock into the parts that one command installs, and leaves out pins that this machine cannot run.
// The tag of an optional pin decides, before anything is installed: installers report "no file for this machine"
// and "no network" with similar words, and a package that is missing because of the network would turn scores
// into "not measured". Pure.
import { type Lock, type Pin, pinText, type Section } from "./lock-file.ts";

export type Parts = {
  /** Texts of requirement files; an empty part has an empty text. */
  wheels: string;
  sources: string;
  unhashed: string;
  alone: string;
  leftOut: Pin[];
};

/** `tags` are the wheel tags that this machine's pip accepts. */
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
    leftOut,
  };
}

/** The log's line for a pin that is left out. */
export function leftOutText({ name, version, only, without }: Pin): string {
  return `left out: ${name} ${version}, whose files are for ${only.join(" or ")}; this machine runs none of them.${without ? ` ${without}` : ""}`;
}
