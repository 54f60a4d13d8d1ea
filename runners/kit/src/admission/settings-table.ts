// The settings that the benchmark's transformers reads, by model type: settings-table.json, which
// tests/support/settings-table/make_settings_table.py writes from the installed version.
import json from "./settings-table.json" with { type: "json" };

/** number: a number or a list of numbers. plain: also texts and lists of texts. table: also tables of these. */
export type SettingKind = "number" | "text" | "plain" | "table";

export type SettingsOfClass = {
  settings: Record<string, SettingKind>;
  /** Settings that are configurations themselves: their class, or `auto` if `model_type` in them names it. */
  parts: Record<string, string>;
  /** Other names of settings, e.g. `num_hidden_layers` for `n_layer`. */
  aliases: Record<string, string>;
};

type SettingsTable = {
  transformers: string;
  /** The configuration class of each model type that lm-eval loads: causal language models and encoder-decoders. */
  types: Record<string, string>;
  /** Types that look ahead unless the setting is_decoder is true. */
  encoders: string[];
  /** Types that are not scored, whatever their settings: each with the reason, which follows the name. */
  notScored: Record<string, string>;
  /** The classes of further types, which occur only as parts. */
  partTypes: Record<string, string>;
  common: Record<string, SettingKind>;
  classes: Record<string, SettingsOfClass>;
  /** Settings without influence on a score, each with the reason. */
  dropped: Record<string, string>;
  undecided: string[];
  /** What a setting layer_types may list. */
  layerTypes: string[];
  tokenizer: {
    classes: string[];
    files: string[];
    /** Classes that need no file, e.g. that of bytes. */
    withoutFiles: string[];
    settings: string[];
    dropped: Record<string, string>;
  };
};

export const settingsTable = json as unknown as SettingsTable;

/** A property of the table itself, never one that every object has. */
export function own<T>(table: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
