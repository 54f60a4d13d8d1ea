// Toy images in place of UltraMNIST: three to five digits at random places, with noise. The label is their sum.
import { type LabelledImage, npyFile } from "../data/image-data.ts";
import { type Dice, shuffled } from "../llm-efficiency/dice.ts";

const size = 24;
const sumMax = 27; // as in the official data
const cell = { width: 6, height: 8 };
const columns = size / cell.width;
const cells = Array.from({ length: columns * (size / cell.height) }, (_, at) => at);

/** Five rows of each digit, from the top; the bits of a number are the pixels of a row. */
const glyphs = [75557, 26227, 71747, 71717, 55711, 74717, 74757, 71122, 75757, 75717].map((rows) =>
  Array.from(String(rows), Number),
);

export function digits(name: string, count: number, roll: Dice): LabelledImage[] {
  return Array.from({ length: count }, (_, at) => {
    const shown = draw(roll);
    const label = shown.reduce((sum, digit) => sum + digit, 0);
    const pixels = picture(shown, roll);
    return { id: `${name}-${at}`, label, file: npyFile(pixels, [size, size]), extension: "npy" };
  });
}

function draw(roll: Dice): number[] {
  for (;;) {
    const shown = Array.from({ length: 3 + roll(3) }, () => roll(10));
    if (shown.reduce((sum, digit) => sum + digit, 0) <= sumMax) return shown;
  }
}

function picture(shown: number[], roll: Dice): Uint8Array {
  const pixels = Uint8Array.from({ length: size * size }, () => roll(60));
  const places = shuffled(cells, roll);
  for (const [at, digit] of shown.entries()) {
    const left = (places[at]! % columns) * cell.width + roll(3);
    const top = Math.floor(places[at]! / columns) * cell.height + roll(3);
    for (const [row, bits] of glyphs[digit]!.entries())
      for (let column = 0; column < 3; column++)
        if (bits & (4 >> column)) pixels[(top + row) * size + left + column] = 195 + roll(60);
  }
  return pixels;
}
