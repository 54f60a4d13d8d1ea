// Rebuilds config.json from the settings of its model type. No value in the result names a file or a repository.

import { type AdmissionReason, notScorable } from "@mlrb/formats/judged/admission";
import type { CleanFindings } from "./clean-findings.ts";
import { clip } from "./clip.ts";
import { type Exact, type ExactTable, isExactTable } from "./exact-json.ts";
import { withoutRopeParameters } from "./rope-parameters.ts";
import { boundTrouble, type WeightSizes } from "./setting-bounds.ts";
import { holdsOnlyWords, settingTrouble } from "./setting-value.ts";
import { own, type SettingsOfClass, settingsTable } from "./settings-table.ts";
import { cleanTokenizerClass } from "./tokenizer-class.ts";

const file = "config.json";
const { transformers, types, encoders, notScored, partTypes, common, classes } = settingsTable;

/**
 * The rebuilt settings. Without `model_type` they are empty: loaders would guess the type from the folder's path.
 * `fast`: there is a tokenizer.json.
 */
export function cleanConfig(
  config: ExactTable,
  sizes: WeightSizes | undefined,
  findings: CleanFindings,
  fast: boolean,
): ExactTable {
  const type = own(config, "model_type");
  if (type === undefined) return {};
  const trouble = typeTrouble(config, type);
  if (trouble) {
    findings.reasons.push(trouble);
    return {};
  }
  const of = classes[types[type as string]!]!;
  return new ConfigCleaner(config, { sizes, findings, fast }).clean(config, of, "");
}

/** Why no model of this type can be scored: scorers measure what lm-eval loads with the installed transformers. */
function typeTrouble(config: ExactTable, type: Exact): AdmissionReason | undefined {
  if (typeof type !== "string") return { code: "config", detail: `${file}: model_type is no text` };
  const not = (why: string) => ({
    code: notScorable,
    detail: `${file}: model_type is ${clip(type)}, ${why}; docs/agents.md lists what can be scored`,
  });
  const why = own(notScored, type);
  if (why !== undefined) return not(`which ${why}`);
  if (own(types, type) === undefined) {
    const needed = own(config, "auto_map") === undefined ? "" : ", and no code of a submission is run";
    return not(
      `which transformers ${transformers} loads no encoder-decoder and no causal language model for${needed}`,
    );
  }
  return encoders.includes(type) && own(config, "is_decoder") !== true
    ? not("which looks ahead unless is_decoder is true")
    : undefined;
}

/** Whether the file was written by a later version, in which an unknown setting may have a meaning. */
function isNewer(version: Exact | undefined): boolean {
  const parts = (text: string) => text.split(".").map(Number);
  if (typeof version !== "string" || !/^\d+\.\d+/.test(version)) return false;
  const [major, minor] = parts(version) as [number, number];
  const [ourMajor, ourMinor] = parts(transformers) as [number, number];
  return major > ourMajor || (major === ourMajor && minor > ourMinor);
}

function isKnownLayers(value: Exact): boolean {
  return !Array.isArray(value) || value.every((layer) => settingsTable.layerTypes.includes(layer as string));
}

type Given = { sizes: WeightSizes | undefined; findings: CleanFindings; fast: boolean };

class ConfigCleaner {
  readonly #given: Given;
  readonly #newer: boolean;
  readonly #tied: boolean;

  constructor(config: ExactTable, given: Given) {
    this.#given = given;
    this.#newer = isNewer(own(config, "transformers_version"));
    this.#tied = own(config, "tie_word_embeddings") !== false;
  }

  /** `prefix`: the place of a part, e.g. `text_config.`. */
  clean(table: ExactTable, of: SettingsOfClass, prefix: string): ExactTable {
    const kept: [string, Exact][] = [];
    const { settings, trouble } = withoutRopeParameters(table, of);
    if (trouble) this.#leaveOpen(`${prefix}rope_parameters`, trouble);
    for (const [key, value] of Object.entries(settings)) {
      const clean = this.#setting(key, value, of, prefix);
      if (clean !== undefined) kept.push([key, clean]);
    }
    return Object.fromEntries(kept);
  }

  #setting(key: string, value: Exact, of: SettingsOfClass, prefix: string): Exact | undefined {
    const place = prefix + key;
    if (key === "tokenizer_class" && prefix === "")
      return cleanTokenizerClass(value, { file, ...this.#given });
    if (key.includes("attn_implementation")) return this.#attention(value, place);
    if (place === "transformers_weights")
      return this.#reject(place, "makes a loader take other weights; name them model.safetensors");
    if (Object.hasOwn(of.parts, key)) return this.#part(value, of.parts[key]!, place);
    const kind = key === "model_type" ? "text" : (own(of.settings, key) ?? own(common, key));
    if (kind === undefined) return this.#unknown(key, value, place);
    const unused = prefix !== "" && prefix !== "text_config.";
    const bound = boundTrouble(key, value, { of, sizes: this.#given.sizes, unused });
    const trouble = bound === undefined ? settingTrouble(value, kind) : { kind: "rejected", detail: bound };
    if (!trouble && key === "layer_types" && this.#newer && !isKnownLayers(value))
      return this.#leaveOpen(place, `names a kind of layer that transformers ${transformers} does not have`);
    if (!trouble) return value;
    if (trouble.kind === "rejected" || (trouble.kind === "mistyped" && !this.#newer))
      return this.#reject(place, trouble.detail);
    return this.#leaveOpen(place, trouble.detail);
  }

  #attention(value: Exact, place: string): undefined {
    // a name with a slash is a repository of compiled kernels, alone or in a table with an entry for each part
    if (holdsOnlyWords(value)) return this.#drop(place, "the scorer's choice");
    return this.#reject(place, "names code to be fetched; remove it");
  }

  #part(value: Exact, name: string, place: string): Exact | undefined {
    if (value === null) return null;
    if (!isExactTable(value)) return this.#reject(place, "is not a table");
    const type = own(value, "model_type");
    const named = typeof type === "string" ? (own(types, type) ?? own(partTypes, type)) : undefined;
    const of = own(classes, name === "auto" ? (named ?? "") : name);
    if (of) return this.clean(value, of, `${place}.`);
    return this.#leaveOpen(place, "is a configuration of a type that the benchmark does not know");
  }

  #unknown(key: string, value: Exact, place: string): undefined {
    const why = own(settingsTable.dropped, key);
    if (why !== undefined) return this.#drop(place, why);
    if (value === null) return this.#drop(place, "null");
    // T5 of transformers 5 names what earlier versions decide by tie_word_embeddings
    if (key === "scale_decoder_outputs" && value === this.#tied)
      return this.#drop(place, "follows from tie_word_embeddings");
    if (settingsTable.undecided.includes(key) && value !== false)
      return this.#leaveOpen(place, "changes how weights are read");
    if (this.#newer)
      return this.#leaveOpen(
        place,
        `is unknown to transformers ${transformers}, and a later version wrote the file`,
      );
    return this.#drop(place, "no code that loads this type reads it");
  }

  #drop(place: string, why: string): undefined {
    this.#given.findings.dropped.push({ file, key: place, why });
  }

  #reject(place: string, why: string): undefined {
    this.#given.findings.reasons.push({ code: "config", detail: `${file}: ${clip(place)} ${why}` });
  }

  #leaveOpen(place: string, why: string): undefined {
    this.#given.findings.undecided.push({ code: "config", detail: `${file}: ${clip(place)} ${why}` });
  }
}
