// Counts the tokens of a text as current chat models do (encoding o200k_base).
//
// Cost: the tables are 2.4 MB of script, some 270 ms of one core and 65 MB of memory, once. They are read with the first count, not at start: a service that is
// never asked for answers never pays. Counting goes through 2 to 8 MB a second.

import { createRequire } from 'node:module';
import type * as O200k from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Text goes to the tokenizer in windows of at most this many characters, cut before a space wherever there is one: no token crosses such a place. The most
 * expensive text, runs of letters beyond ASCII, takes some 2 ms a window.
 */
const WINDOW = 512;
/**
 * Merging takes time with the square of an unbroken run of letters, signs or spaces. Longer runs are cut; each cut adds one token at most. Words of any
 * language are far shorter.
 */
const LONGEST_RUN = 128;
const LONG_RUN = new RegExp(
  ['[\\p{L}\\p{M}]', '[^\\s\\p{L}\\p{N}]', '[\\s/]']
    // Looked for from the start of a run only: one pass, whatever the text.
    .map((kind) => `(?<!${kind})${kind}{${LONGEST_RUN + 1},}`)
    .join('|'),
  'gu',
);
/** What is longer is counted up to here, and the rest in proportion: a quarter of a second at most for any text. */
const LONGEST_COUNTED = 2 ** 16;
/** Markers such as `<|endoftext|>` in a text are text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

let tokenizer: typeof O200k | undefined;

/**
 * Tokens of a text. Exact for text that has a space within every 512 characters and no unbroken run over 128 letters, signs or spaces, up to 64 K
 * characters; else at most some percent off. Never throws.
 */
export function countTokens(text: string): number {
  const steps = tokenSteps(text);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same with a pause after each window, for texts of unknown length beside other work. */
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
    // Merges would be kept with pieces of the texts they came from, 100,000 of them; without, counting is as fast.
    tokenizer.setMergeCacheSize(0);
  }
  return tokenizer;
}

/** As the build has packed it (pack-tokenizer.mjs); in a checkout that was not built, from its package. */
function readTokenizer(): typeof O200k {
  // Not import(): counting is no asynchronous matter, and the tables block while they are read either way.
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

/** A place no later that does not part the two halves of one character. */
function withoutHalfPair(text: string, at: number): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  const isHigh = (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
  return isLow && isHigh ? at - 1 : at;
}

/** Wider than needed does no harm: then a window ends at another space. */
function isSpace(code: number): boolean {
  return code <= 0x20 || (code >= 0x80 && /\s/.test(String.fromCharCode(code)));
}
