// Divides a text into words by UAX 29 (Unicode Text Segmentation, section 4), the same on every
// version of Node.
//
// A text is first cut at ASCII white space, where there is always a boundary. A piece that is ASCII
// is divided by a short form of the rules; the others by all of them, from left to right. The rules
// look at two characters on each side of a possible boundary; characters that only extend another
// one (marks, joiners, invisible ones) are passed over (WB4).
//
// Invariant of the long form: `left` and `before` are the classes of the last two characters that
// were not passed over, and [start, at) is the segment so far, which is a word if `counts` (it has
// a letter or number).
//
// Example: "I can't pay 3,50 for co-op" -> I, can't, pay, 3,50, for, co, op.

import {
  CARRIAGE_RETURN,
  classOf,
  DOUBLE_QUOTE,
  EXTEND,
  EXTEND_NUMBER_LETTER,
  FLAG,
  FORMAT,
  HEBREW_LETTER,
  isPictographic,
  JOINER,
  KATAKANA,
  LETTER,
  LETTER_ALONE,
  LINE_FEED,
  MID_LETTER,
  MID_NUMBER,
  MID_NUMBER_LETTER,
  NEWLINE,
  NUMERIC,
  OTHER,
  SINGLE_QUOTE,
  SPACE,
} from './word-classes.ts';

/**
 * Returns the words of a text in their order, as they are written: the segments between word
 * boundaries that have a letter or number. Takes time linear in the length of the text.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  const length = text.length;
  for (let at = 0; at < length; at++) {
    const start = at;
    let bits = 0;
    for (; at < length; at++) {
      const unit = text.charCodeAt(at);
      if (unit === 0x20 || (unit <= 0x0d && unit >= 0x09)) break;
      bits |= unit;
    }
    if (bits < 0x80) addAsciiWords(text, start, at, words);
    else addWords(text, start, at, words);
  }
  return words;
}

/** Kinds of ASCII characters: those up to UNDERSCORE always join each other (WB5, WB8 to WB13b). */
const A_LETTER = 1;
const A_DIGIT = 2;
const UNDERSCORE = 3;
/** `'` and `.`, within letters and within digits. */
const MID_BOTH = 4;
/** `:`, within letters. */
const MID_LETTERS = 5;
/** `,` and `;`, within digits. */
const MID_DIGITS = 6;

const ASCII_KINDS = asciiKinds();

/** Adds the words of the ASCII characters from `start` to `end`, none of which is white space. */
function addAsciiWords(text: string, start: number, end: number, words: string[]): void {
  for (let at = start; at < end; at++) {
    let kind = ASCII_KINDS[text.charCodeAt(at)]!;
    if (kind === 0 || kind > UNDERSCORE) continue;
    const first = at;
    let counts = kind !== UNDERSCORE;
    for (at++; at < end; at++) {
      const next = ASCII_KINDS[text.charCodeAt(at)]!;
      if (next === 0) break;
      if (next <= UNDERSCORE) {
        kind = next;
        if (next !== UNDERSCORE) counts = true;
        continue;
      }
      // WB6, WB7, WB11, WB12: punctuation joins what is on both of its sides.
      if (next !== MID_BOTH && next !== (kind === A_LETTER ? MID_LETTERS : MID_DIGITS)) break;
      if (kind === UNDERSCORE || at + 1 === end || ASCII_KINDS[text.charCodeAt(at + 1)] !== kind) break;
    }
    if (counts) words.push(text.slice(first, at));
  }
}

/** Adds the words of the characters from `from` to `end`, by all rules. */
function addWords(text: string, from: number, end: number, words: string[]): void {
  let start = from;
  let counts = false;
  let before = OTHER;
  let left = OTHER;
  /** The class of the character directly before `at`. */
  let last = OTHER;
  /** Flag letters in a row, up to `left`. */
  let flags = 0;
  for (let at = from; at < end; ) {
    const codePoint = text.codePointAt(at)!;
    const next = at + (codePoint > 0xffff ? 2 : 1);
    const right = classOf(codePoint);
    if (at > from && !isJoined(text, next, end, before, left, last, flags, right, codePoint)) {
      if (counts) words.push(text.slice(start, at));
      start = at;
      counts = false;
    }
    if (isCounted(right)) counts = true;
    // WB4: what extends a character is passed over, unless there is none that it could extend.
    if (at === from || !isPassedOver(right) || isLineEnd(left)) {
      flags = right === FLAG ? flags + 1 : 0;
      before = left;
      left = right;
    }
    last = right;
    at = next;
  }
  if (counts) words.push(text.slice(start, end));
}

/**
 * Tells whether there is no boundary before a character: `right` is its class, `next` the offset
 * after it.
 */
function isJoined(
  text: string,
  next: number,
  end: number,
  before: number,
  left: number,
  last: number,
  flags: number,
  right: number,
  codePoint: number,
): boolean {
  if (isLineEnd(last) || isLineEnd(right)) return false; // WB3a, WB3b; CR LF is white space
  if (last === JOINER && isPictographic(codePoint)) return true; // WB3c
  if (last === SPACE && right === SPACE) return true; // WB3d
  if (isPassedOver(right)) return true; // WB4
  switch (right) {
    case LETTER:
    case HEBREW_LETTER:
      if (isLetter(left) || left === NUMERIC || left === EXTEND_NUMBER_LETTER) return true; // WB5, WB10, WB13b
      if (isLetter(before) && isMidLetter(left)) return true; // WB7
      return before === HEBREW_LETTER && left === DOUBLE_QUOTE && right === HEBREW_LETTER; // WB7c
    case NUMERIC:
      if (left === NUMERIC || isLetter(left) || left === EXTEND_NUMBER_LETTER) return true; // WB8, WB9, WB13b
      return before === NUMERIC && isMidNumber(left); // WB11
    case KATAKANA:
      return left === KATAKANA || left === EXTEND_NUMBER_LETTER; // WB13, WB13b
    case EXTEND_NUMBER_LETTER: // WB13a
      return isLetter(left) || left === NUMERIC || left === KATAKANA || left === EXTEND_NUMBER_LETTER;
    case FLAG:
      return left === FLAG && flags % 2 === 1; // WB15, WB16
    case DOUBLE_QUOTE: // WB7b
      return left === HEBREW_LETTER && classAfter(text, next, end) === HEBREW_LETTER;
    case SINGLE_QUOTE:
      if (left === HEBREW_LETTER) return true; // WB7a
  }
  if (isLetter(left) && isMidLetter(right)) return isLetter(classAfter(text, next, end)); // WB6
  return left === NUMERIC && isMidNumber(right) && classAfter(text, next, end) === NUMERIC; // WB12
}

/**
 * Returns the class of the next character from `at` that is not passed over, or OTHER. Punctuation
 * asks it once, for the characters up to the next one, so that each is looked at twice at most.
 */
function classAfter(text: string, at: number, end: number): number {
  while (at < end) {
    const codePoint = text.codePointAt(at)!;
    const found = classOf(codePoint);
    if (!isPassedOver(found)) return found;
    at += codePoint > 0xffff ? 2 : 1;
  }
  return OTHER;
}

function isCounted(value: number): boolean {
  return isLetter(value) || value === NUMERIC || value === KATAKANA || value === LETTER_ALONE;
}

function isLetter(value: number): boolean {
  return value === LETTER || value === HEBREW_LETTER;
}

function isMidLetter(value: number): boolean {
  return value === MID_LETTER || value === MID_NUMBER_LETTER || value === SINGLE_QUOTE;
}

function isMidNumber(value: number): boolean {
  return value === MID_NUMBER || value === MID_NUMBER_LETTER || value === SINGLE_QUOTE;
}

function isPassedOver(value: number): boolean {
  return value === EXTEND || value === FORMAT || value === JOINER;
}

function isLineEnd(value: number): boolean {
  return value === NEWLINE || value === CARRIAGE_RETURN || value === LINE_FEED;
}

function asciiKinds(): Uint8Array {
  const kinds = new Uint8Array(0x80);
  const set = (characters: string, kind: number) => {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  };
  set('abcdefghijklmnopqrstuvwxyz', A_LETTER);
  set('ABCDEFGHIJKLMNOPQRSTUVWXYZ', A_LETTER);
  set('0123456789', A_DIGIT);
  set('_', UNDERSCORE);
  set("'.", MID_BOTH);
  set(':', MID_LETTERS);
  set(',;', MID_DIGITS);
  return kinds;
}
