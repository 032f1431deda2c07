// Computes how many terminal cells a text takes: wide characters take two, combining marks none.

/** East Asian wide and fullwidth characters (Unicode UAX #11), by block. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
/**
 * Emoji: characters that are emoji by default, characters with a variation selector, pairs of
 * letters that form a flag, and keycaps.
 */
const PICTURE = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|[#*0-9]\ufe0f?\u20e3/u;
const UNSEEN = /^[\p{M}\p{Cf}\p{Cc}\u115f-\u11ff]*$/u;
const PLAIN = /^[\x20-\x7e]*$/;

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (PICTURE.test(grapheme) || WIDE.test(grapheme)) return 2;
  return UNSEEN.test(grapheme) ? 0 : 1;
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text;
}

/**
 * Returns the text if it takes at most `most` cells, and otherwise its beginning followed by `…`.
 */
export function clipped(text: string, most: number): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += graphemeWidth(segment);
    // The kept part leaves a cell for the ellipsis unless the whole text fits.
    if (width > most) return `${fitting(kept, most - 1)}…`;
    kept += segment;
  }
  return text;
}

function fitting(text: string, most: number): string {
  let kept = '';
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += graphemeWidth(segment);
    if (width > most) break;
    kept += segment;
  }
  return kept;
}
