// What an attempt built, for tables. Decides nothing. Everything in a submission is the word of an agent: numbers
// and texts are taken only in the expected form, and clipped.
import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { Architecture, Built } from "@mlrb/formats/judged/built";
import { readJsonFile, settingsLimits } from "../admission/admission-files.ts";
import { givenShares, knownRelatives } from "./identity-rules.ts";
import { dataNames, readProvenance } from "./record-rules.ts";
import type { RuleContext } from "./rule-method.ts";

const textMax = 200;
const namesMax = 20;

export function built({
  folder,
  identity,
  downloads,
}: Pick<RuleContext, "folder" | "identity" | "downloads">): Built {
  return {
    architecture: architectureOf(folder),
    given: identity ? givenShares(identity) : [],
    known: identity ? knownRelatives(identity) : [],
    entered: downloads
      ? downloads.slice(0, namesMax).map(({ from, id }) => ({ from, id: clipped(id) }))
      : null,
    stated: statedIn(folder),
  };
}

/** Names of one field in the settings of different families; the first one that is there counts. */
const fields = {
  layers: ["num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"],
  decoderLayers: ["num_decoder_layers", "decoder_layers"],
  width: ["hidden_size", "n_embd", "d_model", "n_embed", "dim"],
  heads: ["num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"],
  vocabulary: ["vocab_size"],
} as const;

function architectureOf(folder: string): Architecture | null {
  const read = readJsonFile(join(folder, "config.json"), settingsLimits);
  if (read.kind === "malformed" || !isTable(read.value)) return null;
  const config = read.value;
  const { model_type: type } = config;
  const size = (names: readonly string[]) =>
    names.map((name) => config[name]).find((value): value is number => isCount(value)) ?? null;
  return {
    type: typeof type === "string" ? clipped(type) : "",
    layers: size(fields.layers),
    decoderLayers: size(fields.decoderLayers),
    width: size(fields.width),
    heads: size(fields.heads),
    vocabulary: size(fields.vocabulary),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Null if there is no readable provenance.json. */
function statedIn(folder: string): Built["stated"] {
  const provenance = readProvenance(folder);
  if (typeof provenance === "string") return null;
  const { base, experts, data, tokenizer } = provenance;
  return {
    base: textOf(base),
    experts: namesIn(experts),
    data: namesIn(data),
    tokenizer: textOf(tokenizer),
  };
}

/** A text, or the name of an object. */
function textOf(value: unknown): string | null {
  const text = isTable(value) ? value.name : value;
  return typeof text === "string" && text.trim() !== "" ? clipped(text) : null;
}

function namesIn(value: unknown): string[] {
  return (dataNames(value) ?? []).slice(0, namesMax).map(clipped);
}

function clipped(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}…`.toWellFormed() : text;
}
