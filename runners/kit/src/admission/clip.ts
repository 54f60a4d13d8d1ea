/** A hostile text for a message: quoted, escaped and short. */
export function clip(text: string, max = 80): string {
  const quoted = JSON.stringify(text.length > max ? `${text.slice(0, max)}…` : text);
  return quoted.replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (odd) => {
    return `\\u${odd.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
