// Counts the tokens of a text as current chat models do (encoding o200k_base).
//
// Byte-pair merging takes time quadratic in the length of an unbroken run, so the text is cut
// first:
// - into windows of at most 512 characters, each ending before a space if there is one, because no
//   token crosses such a place: the sum over the windows is then the exact count;
// - into pieces of at most 128 characters within a longer unbroken run, each cut adding one token
//   at most;
// - after 64 K characters; the count of the rest is extrapolated.
//
// Cost: the table of 200,000 tokens is read once, in steps of a few ms. It is read at the first
// count, not at startup, so that a service that never counts tokens does not pay for it. Counting
// processes 2 to 8 MB of ordinary text per second.

import { createRequire } from 'node:module';
import type * as O200k from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Maximum number of characters passed to the tokenizer at once; windows are cut before a space
 * where possible, since no token crosses such a place. The most expensive text, runs of letters
 * beyond ASCII, takes about 2 ms per window.
 */
const WINDOW = 512;
/**
 * Maximum length of a run of letters, symbols or spaces, since merging takes time quadratic in it.
 * Longer runs are cut; each cut adds at most one token. Words of all languages are far shorter.
 */
const LONGEST_RUN = 128;
const LONG_RUN = new RegExp(
  ['[\\p{L}\\p{M}]', '[^\\s\\p{L}\\p{N}]', '[\\s/]']
    // Each match is anchored to the start of a run, so that any text is searched in one pass.
    .map((kind) => `(?<!${kind})${kind}{${LONGEST_RUN + 1},}`)
    .join('|'),
  'gu',
);
/**
 * Maximum number of characters that are counted; the count of the rest is extrapolated. This limits
 * any count to a quarter of a second.
 */
const LONGEST_COUNTED = 2 ** 16;
/** Markers such as `<|endoftext|>` count as ordinary text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** The copy of the tokenizer that the build makes (pack-tokenizer.mjs). */
interface PackedTokenizer {
  create(): EncodingCore;
  /**
   * Yields the tokens by rank, as lines of JSON. Each line is an array of texts and byte arrays.
   */
  lines(): Iterable<string>;
}

/** The parts of the package's `BytePairEncodingCore` that are needed for counting. */
interface EncodingCore {
  countNative(text: string): number;
  readonly bytePairStringRankEncoder: Map<string, number>;
  /** Tokens that are not UTF-8 on their own; sorted. */
  bytePairNonUtfSortedEncoder: [Uint8Array, number][];
}

type CountText = (text: string) => number;

let countText: CountText | undefined;
let loading: Generator<void, CountText, void> | undefined;

/**
 * Reads the tokens in steps of a few ms. Several callers share the work. A caller that counts
 * before the table is complete reads the rest at once.
 */
export function* loadTokens(): Generator<void, void, void> {
  while (countText === undefined) {
    const reading: Generator<void, CountText, void> = loading ?? readTokens();
    // If `next` throws, the next caller starts from the beginning.
    loading = undefined;
    const step = reading.next();
    if (step.done) countText = step.value;
    else {
      loading = reading;
      yield;
    }
  }
}

/**
 * Returns the number of tokens in a text. The number is exact if the text has at most 64 K
 * characters, a space in every stretch of 512 characters, and no unbroken run of more than 128
 * letters, symbols or spaces. If not, it is off by a few per cent at most. Every text can be
 * counted.
 */
export function countTokens(text: string): number {
  const steps = tokenSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Counts like `countTokens`, with a pause after each window, so that other work can run while a
 * long text is counted.
 */
export function* tokenSteps(text: string): Generator<undefined, number, void> {
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

/** Reads the packed copy, or the package itself in a checkout that was not built. */
function* readTokens(): Generator<void, CountText, void> {
  // import() cannot be used here, because counting is synchronous.
  const require = createRequire(import.meta.url);
  let packed: PackedTokenizer;
  try {
    packed = require('../../build/tokenizer/packed.js') as PackedTokenizer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const { countTokens, setMergeCacheSize } = require('gpt-tokenizer/encoding/o200k_base') as typeof O200k;
    // The merge cache would keep 100,000 pieces of counted texts; counting is as fast without it.
    setMergeCacheSize(0);
    return (text) => countTokens(text, AS_TEXT);
  }
  yield;
  const core = packed.create();
  const others: [Uint8Array, number][] = [];
  let rank = 0;
  for (const line of packed.lines()) {
    yield;
    for (const token of JSON.parse(line) as (string | number[])[]) {
      if (typeof token === 'string') core.bytePairStringRankEncoder.set(token, rank);
      else others.push([Uint8Array.from(token), rank]);
      rank++;
    }
  }
  yield;
  core.bytePairNonUtfSortedEncoder = others.sort(([a], [b]) => Buffer.compare(a, b));
  return (text) => core.countNative(text);
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
  if (text === '') return 0;
  if (countText === undefined) for (const _ of loadTokens());
  return countText!(text);
}

/** Moves a cut back by one if it would split a surrogate pair. */
function withoutHalfPair(text: string, at: number): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  const isHigh = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isLow && isHigh ? at - 1 : at;
}

/**
 * Returns true for spaces. Classifying too much as a space is harmless: the window then ends at
 * another space.
 */
function isSpace(code: number): boolean {
  return code <= 0x20 || (code >= 0x80 && /\s/.test(String.fromCharCode(code)));
}
