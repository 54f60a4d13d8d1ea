import assert from "node:assert/strict";
import { test } from "node:test";
import type { LockedSource } from "@mlrb/formats/declared/source-lock";
import type { DeclaredSource } from "../sources/declared-sources.ts";
import { downloadWords, sourceChecks } from "./source-checks.ts";

const GiB = 2 ** 30;

function declared(name: string, sizes: { seen?: number; locked?: number }): DeclaredSource {
  const about = { repository: `org/${name}`, type: "dataset" } as const;
  const entry: LockedSource = {
    ...about,
    revision: "a".repeat(40),
    licence: "mit",
    gated: "none",
    patterns: [],
    files: [{ path: "a", size: sizes.locked ?? 0, sha256: "a".repeat(64) }],
  };
  const seen = sizes.seen === undefined ? {} : { seen: { bytes: sizes.seen } };
  return {
    manifest: { formatVersion: 1, name, title: name, use: "data", ...about, ...seen },
    place: { file: `sources/${name}.yaml`, line: 1, column: 1, excerpt: "", length: 1 },
    state: sizes.locked === undefined ? { kind: "unresolved" } : { kind: "resolved", entry },
    usedBy: [],
  };
}

const accepted = (name: string) => ({
  source: name,
  repository: `org/${name}`,
  revision: "a".repeat(40),
  licence: "mit",
  gated: "none",
  acceptedAt: "2026-01-01T00:00:00.000Z",
});

test("sizes are approximate until every source is locked, and unknown ones are counted", () => {
  const [texts, pairs, odd] = [
    declared("texts", { seen: 2 * GiB }),
    declared("pairs", { locked: GiB }),
    declared("odd", {}),
  ];
  assert.equal(downloadWords([texts, pairs, odd]), "3 sources, about 3.0 GiB, 1 of unknown size");
  assert.equal(downloadWords([pairs]), "1 source, 1.0 GiB");
  assert.equal(downloadWords([odd]), "1 source, 1 of unknown size");
});

test("a profile lacks what is not locked or not accepted, and a small disk is noted", () => {
  const sources = [
    declared("texts", { seen: GiB }),
    declared("pairs", { locked: GiB }),
    declared("old", { locked: 1 }),
  ];
  const at = { consents: [accepted("old")], freeBytes: 10 * GiB };
  assert.deepEqual(
    sourceChecks(sources, at).map(({ name, answer, found, help }) => [name, answer, found, help]),
    [
      ["sources", "missing", "not locked: texts", "pnpm pipeline sources lock texts"],
      ["licences", "missing", "not accepted: pairs", "pnpm pipeline sources accept pairs"],
      ["downloads", "works", "3 sources, about 2.0 GiB; 10.0 GiB free", undefined],
    ],
  );
  const small = sourceChecks([declared("old", { locked: 4 * GiB })], at).map(({ answer }) => answer);
  assert.deepEqual(small, ["note"]);
  assert.deepEqual(sourceChecks([], at), []);
});
