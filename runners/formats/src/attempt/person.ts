// What an attempt of a person records beside its shell, and the aliases of people, which only this machine knows.
import * as t from "../schema.ts";
import { event } from "./trajectory-event.ts";

const id = t.about(t.text, "names the person in records and results; the alias is only in people.json");

const begins = {
  person: id,
  consent: t.about(t.text, "the whole text to which the person agreed"),
  agreedAt: t.about(t.text, "ISO 8601"),
  knowledge: t.about(t.anyText, "what the person knew of the task before, in own words"),
};

const declared = {
  hours: t.about(t.amount, "that the person worked on it, as stated; the working time is in the ledger"),
  models: t.about(t.anyText, "models and assistants that the person used, and for what; none: none"),
};

const declaredFields = t.wholeObject(declared);

export const personEvents = [
  event("person", begins),
  event(
    "person-end",
    { person: id },
    { declared: t.about(declaredFields, "absent: the person did not say") },
  ),
] as const;

export const ledgerPerson = t.about(
  t.wholeExcept(["hours", "models"], { id, ...declared }),
  "of an attempt of a person; hours and models are absent if the person did not say",
);

/** In the attempt's folder, as for attempts that wait for a person. */
export const personSocket = { folder: "person", name: "sock" } as const;

/** The first line of a terminal to the desk of an attempt. All but `person` is needed only for a new attempt. */
export const personHello = t.wholeExcept(["consent", "agreedAt", "knowledge"], begins);
export type PersonHello = t.TypeOf<typeof personHello>;
export type PersonDeclared = t.TypeOf<typeof declaredFields>;

const bytes = t.about(t.anyText, "Base64");

/** A later line of a terminal. */
export const terminalLine = t.openObject(
  {
    in: bytes,
    size: { type: "array", items: { type: "integer", minimum: 1, maximum: 1000 }, minItems: 2, maxItems: 2 },
    pause: t.flag,
    declared: declaredFields,
  },
  [],
);

/** A line of the shell inside the walls. Its programs may write lines too. */
export const shellLine = t.openObject({ out: bytes, command: t.anyText, done: { type: "integer" } }, []);

/** A line to a terminal. `ended`: how; the terminal answers with `declared`. `refused`: why; the last line. */
export const deskLine = t.openObject(
  { out: bytes, said: t.anyText, ended: t.anyText, refused: t.anyText },
  [],
);
export type DeskLine = t.TypeOf<typeof deskLine>;

/** people.json of the attempts of a state folder. */
export const peopleFile = t.wholeObject({
  formatVersion: { const: 1 },
  people: t.listOf(
    t.wholeObject({ id, alias: t.about(t.nullable(t.text), "null: removed at the person's request") }),
  ),
});
export type People = t.TypeOf<typeof peopleFile>["people"];
