// The setting rope_parameters of transformers 5, as the settings that transformers 4 reads instead. transformers 4
// ignores rope_parameters without a word, so it would load another model.
import { type Exact, type ExactTable, exactText, isExactTable } from "./exact-json.ts";
import { own, type SettingsOfClass } from "./settings-table.ts";

/** Kinds of scaling for which both versions compute the same from the same numbers. */
const scalings = ["linear", "dynamic", "llama3"];

/** The settings of `table` without rope_parameters, and why that is not possible, if so. */
export function withoutRopeParameters(
  table: ExactTable,
  of: SettingsOfClass,
): { settings: ExactTable; trouble?: string } {
  const { rope_parameters: rope, ...settings } = table;
  if (rope === undefined || own(of.settings, "rope_parameters")) return { settings: table };
  if (rope === null) return { settings };
  const read = isExactTable(rope) ? (oneKind(rope, of) ?? twoKinds(rope, of)) : undefined;
  if (!read)
    return { settings, trouble: "says what this version of transformers cannot read from other settings" };
  for (const [key, value] of Object.entries(read))
    if (!equal(own(settings, key) ?? value, value)) return { settings, trouble: `contradicts ${key}` };
  return { settings: { ...settings, ...read } };
}

/** Every layer turns positions in the same way. */
function oneKind(rope: ExactTable, of: SettingsOfClass): ExactTable | undefined {
  const { rope_theta: theta = null, partial_rotary_factor: part = null, rope_type, type, ...scaling } = rope;
  const kind = rope_type ?? type ?? "default";
  if (kind === "default" ? Object.keys(scaling).length > 0 : !scalings.includes(kind as string))
    return undefined;
  if (Object.hasOwn(of.settings, "global_rope_theta")) return undefined;
  const read: ExactTable = kind === "default" ? {} : { rope_scaling: { rope_type: kind, ...scaling } };
  const has = (name: string) => Object.hasOwn(of.settings, name);
  if (theta !== null) read[has("rotary_emb_base") ? "rotary_emb_base" : "rope_theta"] = theta;
  if (part !== null) read[has("rotary_pct") ? "rotary_pct" : "partial_rotary_factor"] = part;
  return read;
}

/** Layers with a sliding window have a base of their own, as in Gemma 3. */
function twoKinds(rope: ExactTable, of: SettingsOfClass): ExactTable | undefined {
  const { full_attention: full = null, sliding_attention: sliding = null, ...others } = rope;
  if (Object.keys(others).length > 0 || !isExactTable(full) || !isExactTable(sliding)) return undefined;
  if (!Object.hasOwn(of.settings, "rope_local_base_freq")) return undefined;
  const [global, local] = [oneKind(full, of), oneKind(sliding, of)];
  if (!global || !local || Object.keys(local).join() !== "rope_theta") return undefined;
  return { ...global, rope_local_base_freq: local.rope_theta! };
}

function equal(one: Exact, other: Exact): boolean {
  const [text, otherText] = [exactText(one), exactText(other)];
  return text === otherText || Number(text) === Number(otherText);
}
