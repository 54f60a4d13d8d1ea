// Every format on disk has a version. A program that meets another version reports it and stops, because the
// program cannot know what it would overlook. An overlooked attempt would be paid for again. Caches that only save
// time are rebuilt instead.

/** The file was written by a newer or an older mlrb. */
export class OtherFormat extends Error {}

/** `what` begins the message. Throws OtherFormat. A missing version is damage, which the check of the whole file names. */
export function refuseOther(what: string, found: unknown, known: number): void {
  if (found === undefined || found === known) return;
  const [reads, how] =
    typeof found === "number" && found < known
      ? [`only ${known}`, "use the mlrb that wrote it"]
      : [`up to ${known}`, "update mlrb"];
  throw new OtherFormat(
    `${what} is of format ${String(found)}, and this mlrb reads ${reads}; ${how} or choose another --root`,
  );
}
