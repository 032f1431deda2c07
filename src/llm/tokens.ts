// Counts the tokens of a text as current chat models do (encoding o200k_base).
//
// Byte-pair merging takes time quadratic in the length of an unbroken run, so the text is cut
// first:
// - into windows of at most 512 characters, each ending before a space if there is one, because no
//   token crosses such a place: the sum of the windows is then the exact count;
// - into pieces of at most 128 characters within a longer unbroken run, each cut adding one token
//   at most;
// - after 64 K characters, beyond which the count is extrapolated.
//
// Cost: the tables are 2.4 MB of script and take about 270 ms of one core and 65 MB of memory,
// once. They are loaded by the first count, not at startup, so that a service that is never asked
// for answers does not pay. Counting processes 2 to 8 MB per second.

import { createRequire } from 'node:module';
import type * as O200k from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Maximum number of characters passed to the tokenizer at once; windows are cut before a space
 * where possible, since no token crosses such a place. The most expensive text, runs of letters
 * beyond ASCII, takes about 2 ms per window.
 */
const WINDOW = 512;
/**
 * Merging takes time quadratic in an unbroken run of letters, symbols or spaces. Longer runs are
 * cut; each cut adds at most one token. Words of all languages are far shorter.
 */
const LONGEST_RUN = 128;
const LONG_RUN = new RegExp(
  ['[\\p{L}\\p{M}]', '[^\\s\\p{L}\\p{N}]', '[\\s/]']
    // Anchored to the start of a run: one pass over any text.
    .map((kind) => `(?<!${kind})${kind}{${LONGEST_RUN + 1},}`)
    .join('|'),
  'gu',
);
/**
 * Characters that are counted; the rest is extrapolated. Bounds any count to a quarter of a second.
 */
const LONGEST_COUNTED = 2 ** 16;
/** Markers such as `<|endoftext|>` count as ordinary text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

let tokenizer: typeof O200k | undefined;

/**
 * Number of tokens of a text. Exact if the text has at most 64 K characters, a space within every
 * 512, and no unbroken run of more than 128 letters, symbols or spaces; otherwise off by a few per
 * cent at most. Never throws.
 */
export function countTokens(text: string): number {
  const steps = tokenSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * The same with a pause after each window, so that other work can run while long texts are counted.
 */
export function* tokenSteps(text: string): Generator<void, number, void> {
  let at = 0;
  let count = 0;
  while (at < text.length && at < LONGEST_COUNTED) {
    const end = endOfWindow(text, at);
    count += countWindow(text.slice(at, end));
    at = end;
    yield;
  }
  return at < text.length ? Math.ceil((count * text.length) / at) : count;
}

function tokens(): typeof O200k {
  if (tokenizer === undefined) {
    tokenizer = readTokenizer();
    // The merge cache would keep 100,000 pieces of the texts counted; counting is as fast without
    // it.
    tokenizer.setMergeCacheSize(0);
  }
  return tokenizer;
}

/**
 * Loads the copy packed by the build (pack-tokenizer.mjs), or the package itself in a checkout that
 * was not built.
 */
function readTokenizer(): typeof O200k {
  // Not import(): counting is synchronous, and loading the tables blocks either way.
  const require = createRequire(import.meta.url);
  try {
    return require('../../build/tokenizer/encoding/o200k_base.js') as typeof O200k;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    return require('gpt-tokenizer/encoding/o200k_base') as typeof O200k;
  }
}

function endOfWindow(text: string, start: number): number {
  const most = start + WINDOW;
  if (most >= text.length) return text.length;
  for (let at = most; at > start + 1; at--) {
    if (text.charCodeAt(at) === 0x20 && !isSpace(text.charCodeAt(at - 1))) return at;
  }
  return withoutHalfPair(text, most);
}

function countWindow(text: string): number {
  let count = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    for (let at = index + LONGEST_RUN; at < index + run.length; at += LONGEST_RUN) {
      const cut = withoutHalfPair(text, at);
      count += countPiece(text.slice(from, cut));
      from = cut;
    }
  }
  return count + countPiece(text.slice(from));
}

function countPiece(text: string): number {
  return text === '' ? 0 : tokens().countTokens(text, AS_TEXT);
}

/** Moves a cut back by one if it would split a surrogate pair. */
function withoutHalfPair(text: string, at: number): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  const isHigh = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isLow && isHigh ? at - 1 : at;
}

/** Classifying too much as space is harmless: the window then ends at another space. */
function isSpace(code: number): boolean {
  return code <= 0x20 || (code >= 0x80 && /\s/.test(String.fromCharCode(code)));
}
