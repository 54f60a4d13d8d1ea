import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { built as builtFormat } from "@mlrb/formats/judged/built";
import type { Identity } from "@mlrb/formats/judged/identity";
import { mustFollow } from "@mlrb/formats/read-format";
import { built } from "./built.ts";
import { root } from "./testing/weights.ts";

const known = { identity: undefined, downloads: undefined };

function submission(files: Record<string, unknown>): string {
  const folder = mkdtempSync(join(root, "built-"));
  for (const [name, value] of Object.entries(files))
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  return folder;
}

const architecture = (config: unknown) =>
  built({ folder: submission({ "config.json": config }), ...known }).architecture;

test("the sizes of a model are found under the names of its family", () => {
  const gpt2 = { model_type: "gpt2", n_layer: 6, n_embd: 768, n_head: 12, vocab_size: 50_257 };
  const sizes = { layers: 6, decoderLayers: null, width: 768, heads: 12, vocabulary: 50_257 };
  assert.deepEqual(architecture(gpt2), { type: "gpt2", ...sizes });
  const t5 = { model_type: "t5", num_layers: 8, num_decoder_layers: 4, d_model: 512, num_heads: 6 };
  const others = { layers: 8, decoderLayers: 4, width: 512, heads: 6, vocabulary: null };
  assert.deepEqual(architecture(t5), { type: "t5", ...others });
});

test("a setting in another form is unknown, and a file that is no table or no file has no architecture", () => {
  const none = { layers: null, decoderLayers: null, width: null, heads: null, vocabulary: null };
  const odd = { model_type: 5, n_layer: "12", n_embd: -1, n_head: 1.5, vocab_size: 1e300 };
  assert.deepEqual(architecture(odd), { type: "", ...none });
  assert.deepEqual(architecture({ __proto__: { n_layer: 3 }, n_layer: null, num_layers: 2 })!.layers, 2);
  for (const text of ["[]", "{", "null"]) assert.equal(architecture(text), null);
  const folder = submission({});
  assert.equal(built({ folder, ...known }).architecture, null);
  mkdirSync(join(folder, "config.json"));
  assert.equal(built({ folder, ...known }).architecture, null);
  const linked = submission({ "real.json": { model_type: "gpt2" } });
  symlinkSync("real.json", join(linked, "config.json"));
  assert.equal(built({ folder: linked, ...known }).architecture, null);
});

test("what the agent states is clipped, and other forms than texts and names are left out", () => {
  const long = "x".repeat(5000);
  const names = Array.from({ length: 50 }, (_, at) => ({ name: `set-${at}`, revision: 1 }));
  const provenance = { base: { name: "gpt2" }, experts: [1, 2], data: names, tokenizer: long };
  const { stated } = built({ folder: submission({ "provenance.json": provenance }), ...known });
  assert.deepEqual([stated!.base, stated!.experts, stated!.data.length], ["gpt2", [], 20]);
  assert.equal(stated!.tokenizer!.length, 201);
  assert.equal(built({ folder: submission({ "provenance.json": "[1]" }), ...known }).stated, null);
  mustFollow(builtFormat, stated && built({ folder: submission({}), ...known }), "built");
});

test("weights come from the given models whose versions they are, and known models count only if they surely match", () => {
  const relation = { tensor: "a", by: "place", values: "other", difference: 0.1, repeated: 0 } as const;
  const tensor = (name: string, model: string, cosine: number) => ({
    ...{ name, shape: [64, 48], finite: true, constant: false },
    relations: [{ ...relation, model, cosine }],
  });
  const given = ["base", "expert"].map((model) => ({ model, values: 1, unmapped: false }));
  const match = (tensor: string, likeness: number) =>
    ({ tensor, known: "w", by: "places", likeness }) as const;
  const identity: Identity = {
    ...{ formatVersion: 1, given, mixtures: [] },
    tensors: [tensor("a", "base", 0.99), tensor("b", "base", 0.97), tensor("c", "base", 0.2)],
    known: [
      { model: "gpt2", looked: 3, matches: [match("a", 0.5), match("b", 0.5)] },
      { model: "opt", looked: 3, matches: [match("a", 0.5), match("a", 0.6)] },
      { model: "bloom", looked: 3, matches: [match("a", 0.95)] },
    ],
  };
  const found = built({ folder: root, identity, downloads: undefined });
  assert.deepEqual(found.given, [{ model: "base", share: 2 / 3 }]);
  assert.deepEqual(found.known, ["gpt2", "bloom"]);
});

test("what entered is on record in the sealed condition only, and nothing differs from not known", () => {
  const model = { from: "model", id: "owner/name", weights: true } as const;
  const enteredBy = (downloads: (typeof model)[] | undefined) =>
    built({ folder: root, identity: undefined, downloads }).entered;
  assert.deepEqual(enteredBy([model]), [{ from: "model", id: "owner/name" }]);
  assert.deepEqual(enteredBy([]), []);
  assert.equal(enteredBy(undefined), null);
});
