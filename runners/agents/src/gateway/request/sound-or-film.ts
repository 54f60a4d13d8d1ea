// Recognizes sound and film in a request by what names it (a media type, a file's name) and by its first bytes:
// each provider goes by another one of them. Pure.

const types = /^\s*(audio\b|video\b|application\/(ogg|mp4|x-matroska|x-mpegurl|vnd\.apple\.mpegurl)\b)/iu;

/** Usual extensions; `.ts` is TypeScript too. */
const names =
  /\.(aac|ac3|aiff?|amr|ape|au|caf|flac|m4[abpr]|midi?|mp[123a]|oga|ogg|opus|wav|weba|wma|3g[2p]|asf|avi|flv|m2ts|m4v|mkv|mov|mp4|mpe?g|ogv|qt|vob|webm|wmv)\s*$/iu;

/** First bytes, one character for each; `.` is any byte. */
const beginnings = [
  "ID3[\\x02-\\x04]|OggS\\0|fLaC[\\0\\x80]|MThd\\0\\0\\0\\x06|#!AMR|FLV\\x01|\\.snd\\0|caff\\0",
  "RIFF....(WAVE|AVI )|FORM....AIF[FC]",
  "\\x1a\\x45\\xdf\\xa3", // Matroska, WebM
  "\\x30\\x26\\xb2\\x75\\x8e\\x66\\xcf\\x11", // ASF
  "\\0\\0\\x01[\\xb3\\xba]", // MPEG
  // MP4, MOV, M4A; AVIF, HEIC and JPEG 2000 are pictures in the same container
  "....(ftyp(?!avi[fs]|he[iv][cmsx]|mif[12]|msf1|jp2 |jpx )|moov|mdat|wide)",
  "\\xff[\\xe2\\xe3\\xf0-\\xf5\\xf8-\\xfd]", // frames of MP3 and AAC; not JPEG, nor text in UTF-16
  "G(.{187}G){2}", // a transport stream
];
const begins = new RegExp(`^(${beginnings.join("|")})`, "su");

/** Whether a value names or holds sound or film. */
export const isSoundOrFilm = {
  /** With what follows it in a `data:` URL. */
  "media-type": (type: string) => types.test(type),
  "file-name": (name: string) => names.test(name),
  /** In either alphabet, with or without line breaks. */
  base64(content: string) {
    const first = content.slice(0, 1000).replace(/\s+/gu, "");
    return begins.test(Buffer.from(first, "base64").toString("latin1"));
  },
};
