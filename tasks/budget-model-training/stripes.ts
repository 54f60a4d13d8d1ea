// Toy images of four classes: stripes in four directions. Phase, width and colours are random, so a single pixel says
// nothing about the class.
import { type LabelledImage, npyFile } from "../data/image-data.ts";
import type { Dice } from "../llm-efficiency/dice.ts";

const size = 16;
const channels = 3;
const directions: [string, number, number][] = [
  ["across", 0, 1],
  ["down", 1, 0],
  ["rising", 1, 1],
  ["falling", 1, -1],
];

export function stripes(name: string, count: number, roll: Dice): LabelledImage[] {
  return Array.from({ length: count }, (_, at) => {
    const [label, x, y] = directions[roll(directions.length)]!;
    return {
      id: `${name}-${at}`,
      label,
      file: npyFile(draw(x, y, roll), [size, size, channels]),
      extension: "npy",
    };
  });
}

function draw(x: number, y: number, roll: Dice): Uint8Array {
  const period = 4 + roll(3);
  const phase = roll(period);
  const colours = [0, 1].map(() => Array.from({ length: channels }, () => roll(256)));
  return Uint8Array.from({ length: size * size * channels }, (_, at) => {
    const [pixel, channel] = [Math.floor(at / channels), at % channels];
    const along = x * (pixel % size) + y * Math.floor(pixel / size) + phase + period * size;
    const colour = colours[2 * (along % period) < period ? 0 : 1]![channel]!;
    return Math.max(0, Math.min(255, colour + roll(81) - 40));
  });
}
