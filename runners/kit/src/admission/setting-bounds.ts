// Bounds of whole numbers in config.json. A loader allocates for each layer, expert and position before anyone
// sees whether the weights hold them, so a small file could ask for any amount of memory and time. Every bound is
// above what an honest model needs, since its weights hold what its configuration says.
import { type Exact, isExactNumber } from "./exact-json.ts";
import { own, type SettingsOfClass } from "./settings-table.ts";

/** What the weights hold. */
export type WeightSizes = {
  tensors: number;
  /** The largest dimension of a tensor. */
  dimensionMax: number;
};

/** Parts of a model that one file may share; the largest published models have 512 experts in a layer. */
const countMin = 1024;
/** Published models read at most 10 million tokens. */
const positionsMax = 2 ** 24;
const numberMax = 2 ** 32;

const positions =
  /^(n_positions|n_ctx|max_seq_len|seq_length|max_sequence_length|\w*max_position_embeddings)$/;
const counts = /(layers?|blocks?|experts?|heads?|stages?|codebooks?|buckets)$/;

/**
 * Why the value of a setting is too large for these weights; undefined if it is not. `unused`: it belongs to a
 * part (a vision model) that the weights may lack.
 */
export function boundTrouble(
  key: string,
  value: Exact,
  { of, sizes, unused }: { of: SettingsOfClass; sizes: WeightSizes | undefined; unused: boolean },
): string | undefined {
  if (!isExactNumber(value) || !/^-?\d+$/.test(value.rawJSON)) return undefined;
  const number = Number(value.rawJSON);
  const name = own(of.aliases, key) ?? key;
  const is = (setting: string) => name === setting || name === own(of.aliases, setting);
  if (Math.abs(number) > numberMax) return `is ${number}; at most ${numberMax} is read`;
  if (positions.test(name) && number > positionsMax) return `is ${number}; at most ${positionsMax} is read`;
  if (!sizes) return undefined;
  const { tensors, dimensionMax } = sizes;
  if (!unused && is("num_hidden_layers") && number > tensors)
    return `is ${number}; the weights hold ${tensors} tensors`;
  if (!unused && is("vocab_size") && number > dimensionMax)
    return `is ${number}; the largest dimension of a tensor is ${dimensionMax}`;
  const most = Math.max(countMin, tensors, dimensionMax);
  return counts.test(name) && number > most ? `is ${number}; these weights allow at most ${most}` : undefined;
}
