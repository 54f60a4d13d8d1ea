// Every format on disk has a version. A program that meets a newer version reports it and stops, because the program
// cannot know what it would overlook. An overlooked attempt would be paid for again. Caches that only save time are
// rebuilt instead.

/** The file was written by a newer mlrb. */
export class NewerFormat extends Error {}

/** `what` begins the message. Throws NewerFormat. A missing version means the first format. */
export function refuseNewer(what: string, found: unknown, known: number): void {
  if (found === undefined || (typeof found === "number" && found <= known)) return;
  throw new NewerFormat(
    `${what} is of format ${String(found)}, and this mlrb reads up to ${known}; update mlrb or choose another --root`,
  );
}
