// Draws a figure as a PDF of one page. The same drawing gives the same bytes on every machine: the font is in the lock
// file and embedded, as venues ask; nothing is compressed, because zlib differs between processors; the date is fixed.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
// also makes the font's version part of the stage's key
import font from "@fontsource/source-sans-3/metadata.json" with { type: "json" };
import PDFDocument from "pdfkit";
import { plainText } from "../read/plain-text.ts";

/** 5.5 in, in points of PDF. */
export const pageWidth = 396;

/** Colours that readers with colour blindness tell apart (Okabe and Ito), and shapes for print in grey. */
const colours = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"] as const;
export const faint = "#777777";

export type Point = { x: number; y: number };
type MarkLook = { radius?: number; isFaint?: boolean; isHollow?: boolean };
/** `isClear`: lines that were drawn before do not cross the words. */
type TextLook = {
  size?: number;
  align?: "left" | "right" | "center";
  colour?: string;
  isClear?: boolean;
};

export class PdfPage {
  readonly #document: PDFKit.PDFDocument;
  readonly #whole: Promise<Buffer>;

  /** `title` is read by programs and says what the data is, e.g. smoke. */
  constructor(height: number, title: string) {
    this.#document = new PDFDocument({
      ...{ size: [pageWidth, height], margin: 0, compress: false, font: null as unknown as string },
      info: { Title: plainText(title), CreationDate: new Date(0) },
    });
    const pieces: Buffer[] = [];
    this.#document.on("data", (piece: Buffer) => pieces.push(piece));
    this.#whole = new Promise((resolve) => this.#document.on("end", () => resolve(Buffer.concat(pieces))));
    this.#document.font(readFileSync(fontPath()) as unknown as PDFKit.Mixins.PDFFontSource);
  }

  /** One line, beginning, ending or centred at `at`. */
  text(at: Point, words: string, look: TextLook = {}): void {
    const { size = 7.5, align = "left", colour = "#000000", isClear = false } = look;
    const shown = inFont(words);
    const width = this.widthOf(words, size);
    const x = align === "left" ? at.x : align === "right" ? at.x - width : at.x - width / 2;
    if (isClear) this.#document.rect(x - 1, at.y - 0.5 * size, width + 2, size).fill("#FFFFFF");
    this.#document.fillColor(colour).text(shown, x, at.y - 0.62 * size, { lineBreak: false });
  }

  widthOf(words: string, size = 7.5): number {
    return this.#document.fontSize(size).widthOfString(inFont(words));
  }

  line(from: Point, to: Point, look: { colour: string; width?: number; dash?: number }): void {
    this.#document.lineWidth(look.width ?? 0.5);
    if (look.dash) this.#document.dash(look.dash, {});
    this.#document.moveTo(from.x, from.y).lineTo(to.x, to.y).stroke(look.colour);
    this.#document.undash();
  }

  /** The shape and colour of the agent at this place of the report's order. */
  mark({ x, y }: Point, agent: number, look: MarkLook = {}): void {
    const { radius: r = 2.6, isFaint = false, isHollow = false } = look;
    const path = this.#document;
    switch (agent % 4) {
      case 0:
        path.circle(x, y, r);
        break;
      case 1:
        path.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
        break;
      case 2:
        path.polygon([x, y - 1.2 * r], [x + 1.1 * r, y + 0.8 * r], [x - 1.1 * r, y + 0.8 * r]);
        break;
      default:
        path.polygon([x, y - 1.3 * r], [x + 1.3 * r, y], [x, y + 1.3 * r], [x - 1.3 * r, y]);
    }
    if (isHollow) path.lineWidth(0.9).fillAndStroke("#FFFFFF", colourOf(agent));
    else path.fillColor(colourOf(agent), isFaint ? 0.35 : 1).fill();
    path.fillOpacity(1);
  }

  /** In the agent's colour. */
  cross({ x, y }: Point, agent: number): void {
    const look = { colour: colourOf(agent), width: 0.7 };
    this.line({ x: x - 1.8, y: y - 1.8 }, { x: x + 1.8, y: y + 1.8 }, look);
    this.line({ x: x - 1.8, y: y + 1.8 }, { x: x + 1.8, y: y - 1.8 }, look);
  }

  /** Of no agent. */
  diamond({ x, y }: Point): void {
    this.#document.polygon([x, y - 3], [x + 3, y], [x, y + 3], [x - 3, y]).fill("#000000");
  }

  end(): Promise<Buffer> {
    this.#document.end();
    return this.#whole;
  }
}

export function colourOf(agent: number): string {
  return colours[agent % colours.length]!;
}

function fontPath(): string {
  const file = `files/${font.id}-latin-400-normal.woff`;
  return fileURLToPath(import.meta.resolve(`@fontsource/source-sans-3/${file}`));
}

/** Characters that the font lacks are question marks; titles are in full in the tables. */
function inFont(words: string): string {
  return plainText(words, 48).replace(/[^\u0020-\u007e\u00a0-\u00ff\u2013\u2212\u2026]/gu, "?");
}

/** Places of round numbers from `low` to `high`, about six. */
export function roundTicks(low: number, high: number): { value: number; text: string }[] {
  const rough = (high - low) / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough)!;
  const digits = Math.max(0, -Math.floor(Math.log10(step)));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, at) => {
    const value = (first + at) * step;
    return { value, text: value.toFixed(digits).replace("-", "\u2212") };
  });
}
