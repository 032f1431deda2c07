// Splits a question into words, numbers, dates, quoted texts and signs, in linear time.

export type WordKind = 'word' | 'number' | 'date' | 'time' | 'quoted' | 'sign';

export interface Word {
  readonly kind: WordKind;
  /** The word as in the normalised text, or the inside of a quotation. */
  readonly text: string;
  readonly lower: string;
  /** Offsets in the normalised text. */
  readonly start: number;
  readonly end: number;
  /** Whether the word follows the previous one without a blank. */
  readonly glued: boolean;
  /** Whether a reader has used the word or put it aside. */
  taken: boolean;
}

/** Pattern for a time of day, which a time zone may follow. */
const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:[zZ]|[uU][tT][cC]|[gG][mM][tT])(?![\p{L}\p{N}_])| ?[+-]\d{2}(?::?\d{2})?(?![\d-]))?`;
// Each alternative of the pattern has a fixed length or begins with another kind of character, so
// that no long run of characters is tried twice.
const DATE = String.raw`(?:\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2})(?:[tT]${CLOCK}| ${CLOCK})?(?![\p{L}\p{N}_])|\d{4}-\d{2}(?![\p{L}\p{N}_]|-\d)`;
const WHOLE_DATE = new RegExp(`^(?:${DATE})$`, 'u');
const PATTERNS: readonly [WordKind, RegExp][] = [
  ['date', new RegExp(DATE, 'uy')],
  ['time', new RegExp(`${CLOCK}(?![\\d:])`, 'uy')],
  ['number', /[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3}(?![\p{L}\p{N}_]))?/uy],
  ['word', /[\p{L}\p{M}_][\p{L}\p{M}\p{N}_]*(?:'\p{L}{1,2}(?![\p{L}\p{N}_]))?/uy],
  ['sign', /<=|>=|!=|<>|==|&&|\.\.\.?|[^ ]/uy],
];
const MOST_QUOTED = 200;

export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let at = 0;
  let last = -1;
  while (at < text.length) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    const word = wordAt(text, at, last === at);
    words.push(word);
    at = word.end;
    last = at;
  }
  return words;
}

function wordAt(text: string, at: number, glued: boolean): Word {
  const quoted = quotedAt(text, at);
  if (quoted !== undefined) {
    const { inside, end } = quoted;
    const kind = WHOLE_DATE.test(inside) ? 'date' : 'quoted';
    return { kind, text: inside, lower: inside.toLowerCase(), start: at, end, glued, taken: false };
  }
  for (const [kind, pattern] of PATTERNS) {
    if ((kind === 'number' || kind === 'date' || kind === 'time') && !mayBeNumber(text, at, kind)) continue;
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) continue;
    const end = at + found.length;
    return { kind, text: found, lower: found.toLowerCase(), start: at, end, glued, taken: false };
  }
  const found = String.fromCodePoint(text.codePointAt(at)!);
  return { kind: 'sign', text: found, lower: found, start: at, end: at + found.length, glued, taken: false };
}

/**
 * Returns whether a number, date or time may begin at an offset. A minus or plus belongs to a
 * number only after a blank, a bracket or a similar sign: `3-4` is two numbers with a dash between
 * them.
 */
function mayBeNumber(text: string, at: number, kind: WordKind): boolean {
  const begin = text[at]!;
  if (kind === 'number' && (begin === '-' || begin === '+' || begin === '.'))
    return at === 0 || /[\s([{=<>,;:#&|/"']/.test(text[at - 1]!);
  return begin >= '0' && begin <= '9';
}

/** Reads a quotation of at most MOST_QUOTED characters. An apostrophe does not open a quotation. */
function quotedAt(text: string, at: number): { inside: string; end: number } | undefined {
  const mark = text[at]!;
  if (mark !== '"' && mark !== "'") return undefined;
  if (mark === "'" && at > 0 && !/[\s([{=<>,;:]/.test(text[at - 1]!)) return undefined;
  for (let end = at + 1; end < text.length && end - at <= MOST_QUOTED; end++) {
    if (text[end] !== mark) continue;
    if (mark === "'" && /[\p{L}\p{N}]/u.test(text[end + 1] ?? ' ')) continue;
    const inside = text.slice(at + 1, end).trim();
    return inside === '' ? undefined : { inside, end: end + 1 };
  }
  return undefined;
}

/** The state of reading a question. */
export interface Reading {
  readonly text: string;
  readonly words: readonly Word[];
  /** Parts of the text that were put aside. */
  readonly ignored: { text: string; reason: string }[];
  /** Number of written dates that may still be parsed; each takes a fraction of a millisecond. */
  writtenDatesLeft: number;
}

/** Returns the word at an index, unless it is taken. */
export function freeWord({ words }: Reading, at: number): Word | undefined {
  const word = words[at];
  return word === undefined || word.taken ? undefined : word;
}

/** Returns whether the word at an index is free and is one of `choices`, which are lower-case. */
export function isWord(reading: Reading, at: number, ...choices: readonly string[]): boolean {
  const word = freeWord(reading, at);
  return word !== undefined && word.kind !== 'quoted' && choices.includes(word.lower);
}

/** Phrases, each as a list of words. */
export type Phrases = readonly (readonly string[])[];

/** Splits phrases into their words. */
export function phrases(...texts: readonly string[]): Phrases {
  return texts.map((text) => text.split(' '));
}

/**
 * Returns the number of words of the first phrase that matches at an index, or 0 if no phrase
 * matches.
 */
export function phraseAt(reading: Reading, at: number, choices: Phrases): number {
  const first = freeWord(reading, at);
  if (first === undefined || first.kind === 'quoted') return 0;
  for (const parts of choices) {
    if (parts[0] === first.lower && parts.every((part, index) => isWord(reading, at + index, part)))
      return parts.length;
  }
  return 0;
}

export function take({ words }: Reading, from: number, to: number): void {
  for (let at = from; at < to; at++) words[at]!.taken = true;
}

/** Maximum length of a part of the text that an answer shows. */
const MOST_SHOWN = 120;
/** Maximum number of parts that an answer reports as ignored. */
const MOST_IGNORED = 50;

/** Marks words as taken although they were not understood, and reports them with the reason. */
export function putAside(reading: Reading, from: number, to: number, reason: string): void {
  take(reading, from, to);
  if (reading.ignored.length >= MOST_IGNORED) return;
  reading.ignored.push({ text: writtenAt(reading, from, to), reason });
}

/** Returns a range of words as written, truncated if it is long. */
export function writtenAt({ text, words }: Reading, from: number, to: number): string {
  const written = text.slice(words[from]!.start, words[to - 1]!.end);
  return written.length > MOST_SHOWN ? `${written.slice(0, MOST_SHOWN)}...` : written;
}

const SMALL_NUMBERS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const LARGER = new Map(Object.entries({ fifteen: 15, twenty: 20, thirty: 30, fifty: 50, hundred: 100 }));

/** Reads a count, in digits or as a word. Commas may separate groups of digits (`1,000`). */
export function countAt(reading: Reading, at: number): { value: number; end: number } | undefined {
  const word = freeWord(reading, at);
  if (word === undefined) return undefined;
  if (word.kind === 'word') {
    const small = SMALL_NUMBERS.indexOf(word.lower);
    const value = small >= 0 ? small : LARGER.get(word.lower);
    return value === undefined ? undefined : { value, end: at + 1 };
  }
  if (word.kind !== 'number' || !/^\d/.test(word.text)) return undefined;
  return numberAt(reading, at);
}

/** Reads a number. Commas without blanks may separate groups of three digits. */
export function numberAt(reading: Reading, at: number): { value: number; end: number } | undefined {
  const word = freeWord(reading, at);
  if (word === undefined || word.kind !== 'number') return undefined;
  let digits = word.text;
  let end = at + 1;
  if (/^[+-]?\d{1,3}$/.test(digits)) {
    while (isThousands(reading, end)) {
      digits += reading.words[end + 1]!.text;
      end += 2;
    }
  }
  const value = Number(digits);
  return Number.isFinite(value) ? { value: value === 0 ? 0 : value, end } : undefined;
}

function isThousands(reading: Reading, at: number): boolean {
  const comma = freeWord(reading, at);
  const group = freeWord(reading, at + 1);
  if (comma?.text !== ',' || !comma.glued || group === undefined || !group.glued) return false;
  return group.kind === 'number' && /^\d{3}(\.\d+)?$/.test(group.text);
}
