// The aliases of people who attempted tasks. Records and results hold an ID only, so an alias can be removed, and the
// numbers stay.
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { type People, peopleFile } from "@mlrb/formats/attempt/person";
import { mustFollow } from "@mlrb/formats/read-format";
import { canonicalJson, readJson, writeWhole } from "@mlrb/kit/json-file";
import type { StateFolder } from "@mlrb/local/store/state-folder";

type Attempts = Pick<StateFolder, "attempts">;

const fileOf = ({ attempts }: Attempts) => join(attempts, "people.json");

/** Throws if the file is damaged: a person must not get a second ID. */
export function readPeople(state: Attempts): People {
  const path = fileOf(state);
  return !existsSync(path) ? [] : mustFollow(peopleFile, readJson(path), path).people;
}

function writePeople(state: Attempts, people: People): void {
  writeWhole(fileOf(state), canonicalJson({ formatVersion: 1, people }, 2));
  chmodSync(fileOf(state), 0o600);
}

/** The ID of the person with this alias, who is added if it is new. */
export function personWithAlias(state: Attempts, alias: string): string {
  const people = readPeople(state);
  const known = people.find((one) => one.alias === alias);
  if (known) return known.id;
  const id = randomBytes(4).toString("hex");
  writePeople(state, [...people, { id, alias }]);
  return id;
}

/** False if nobody has the alias. */
export function removeAlias(state: Attempts, alias: string): boolean {
  const people = readPeople(state);
  if (!people.some((one) => one.alias === alias)) return false;
  writePeople(
    state,
    people.map((one) => (one.alias === alias ? { ...one, alias: null } : one)),
  );
  return true;
}

/** `human:amy`; `human:removed-1` after a removal; the ID of a person who is not known here. */
export function personName(agent: string, id: string, people: People): string {
  const found = people.find((one) => one.id === id);
  const removed = people.filter((one) => one.alias === null);
  return `${agent}:${found ? (found.alias ?? `removed-${removed.indexOf(found) + 1}`) : id}`;
}
