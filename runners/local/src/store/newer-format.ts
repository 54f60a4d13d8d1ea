// Every format on disk has a version. A program that meets a newer one says so and stops: it cannot know what it would
// overlook, and an attempt that it overlooks would be paid for again. Caches that only save time are rebuilt instead.

/** A newer mlrb wrote what was read. */
export class NewerFormat extends Error {}

/** `what` begins the message. Throws NewerFormat. A version that is missing is of the first format. */
export function refuseNewer(what: string, found: unknown, known: number): void {
  if (found === undefined || (typeof found === "number" && found <= known)) return;
  throw new NewerFormat(
    `${what} is of format ${String(found)}, and this mlrb reads up to ${known}; update mlrb or choose another --root`,
  );
}
