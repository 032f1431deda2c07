// Finds numbers, times, names and denials in the TEXT columns of cited edges. A sentence that
// repeats such a text must state the same.
//
// Example: if an edge has the text "The company paid 42 dollars in 2019.", a number next to the
// word "dollars" must be 42. A sentence must not state what the text denies. A name such as "Alice"
// must be a word in some text.

import { DAY_SECONDS, type Stretch } from '../question/calendar.ts';
import { stemOf } from '../question/general-words.ts';
import type { RetrievedEdge } from '../retrieval/retrieved-edge.ts';
import { type NumberToken, numbersOf } from './answer-numbers.ts';
import { type TimeToken, timesIn } from './answer-times.ts';
import type { Values } from './edge-values.ts';
import { folded } from './lookalikes.ts';
import { denialsIn } from './negation.ts';

/** Maximum number of characters that are read from the texts of one edge. */
const MOST_OF_EDGE = 2000;
/** Maximum number of characters that are read from all edges of a group of tags. */
const MOST_OF_GROUP = 16_000;

/** The statements in the texts of some edges, and the names of their members. */
export interface Told {
  readonly numbers: readonly Beside[];
  readonly times: readonly TimeToken[];
  /** Stems of all words. */
  readonly stems: ReadonlySet<string>;
  /** Stems of words that follow a name. */
  readonly afterNames: ReadonlySet<string>;
  readonly denied: readonly Denied[];
  /** All texts in lower case, with single spaces. */
  readonly plain: string;
}

/** A number with the stems of the words before and after it. */
interface Beside {
  readonly token: NumberToken;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Whether `after` directly follows the number. */
  readonly isNext: boolean;
  /** Its sign, such as `$`. */
  readonly currency: string | undefined;
}

interface Denied {
  /** Offset of the word of negation. */
  readonly at: number;
  /** Stem of the word that is denied. */
  readonly main: string | undefined;
  /** Stems of the words next to the word of negation. */
  readonly around: ReadonlySet<string>;
}

interface WordAt {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{M}][\p{L}\p{M}\p{N}_]*(?:'[\p{L}]+)?/gu;
/** Function words, which are skipped to find the word to which a number or denial belongs. */
const FORM_WORDS = new Set(
  `a an the of its his her their our my in on at by to for from with and or than is are was were be been being has have had do does did will would it they
  he she we you i who whom whose what which how why where this that these those as not no never none nobody nothing neither nor over under about around them him us there when while before after yet so only even ever any all more longer still already very much really fully`.split(
    /\s+/,
  ),
);

const known = new WeakMap<RetrievedEdge, Told>();
const NOTHING: Told = { numbers: [], times: [], stems: new Set(), afterNames: new Set(), denied: [], plain: '' };

/** Returns the statements in the texts of edges and in names. Each edge is analysed only once. */
export function toldBy(edges: readonly RetrievedEdge[], names: readonly string[]): Told {
  const parts: Told[] = [];
  let left = MOST_OF_GROUP;
  for (const edge of edges) {
    if (left <= 0) break;
    const told = known.get(edge) ?? toldIn(storedTexts(edge));
    known.set(edge, told);
    left -= told.plain.length;
    if (told !== NOTHING) parts.push(told);
  }
  if (names.length > 0) parts.push(toldIn(names));
  if (parts.length < 2) return parts[0] ?? NOTHING;
  return {
    numbers: parts.flatMap(({ numbers }) => numbers),
    times: parts.flatMap(({ times }) => times),
    stems: new Set(parts.flatMap(({ stems }) => [...stems])),
    afterNames: new Set(parts.flatMap(({ afterNames }) => [...afterNames])),
    denied: parts.flatMap(({ denied }) => denied),
    plain: parts.map(({ plain }) => plain).join(' | '),
  };
}

export function storedTexts({ formation, properties }: RetrievedEdge): string[] {
  return [formation, ...Object.values(properties)].filter((value) => typeof value === 'string');
}

function toldIn(texts: Iterable<string>): Told {
  let left = MOST_OF_EDGE;
  const parts: string[] = [];
  for (const text of texts) {
    if (left <= 0) break;
    parts.push(folded(text.slice(0, left)));
    left -= text.length;
  }
  if (parts.length === 0) return NOTHING;
  const whole = parts.join(' | ');
  const words = wordsIn(whole);
  const isAfterName = ({ start }: WordAt, at: number) => {
    const last = words[at - 1];
    return last !== undefined && isName(last.text) && /^\s+$/.test(whole.slice(last.end, start));
  };
  return {
    numbers: besides(whole, numbersOf(whole)),
    times: timesIn(whole, []),
    stems: new Set(words.map(({ text }) => stemOf(text))),
    afterNames: new Set(words.filter(isAfterName).map(({ text }) => stemOf(text))),
    denied: deniedIn(whole, words),
    plain: whole.toLowerCase().replace(/\s+/g, ' '),
  };
}

/** Returns whether a word is a function word. */
export function isFormWord(word: string): boolean {
  return FORM_WORDS.has(word.toLowerCase());
}

/** Returns whether a text has a word, other than function words, that a stored text or name has. */
export function repeatsWord(text: string, { stems }: Told): boolean {
  return wordsIn(text).some((word) => !isFormWord(word.text) && stems.has(stemOf(word.text)));
}

function wordsIn(text: string): WordAt[] {
  return Array.from(text.matchAll(WORD), ({ 0: word, index }) => {
    return { text: word.replace(/'s$/, ''), start: index, end: index + word.length };
  });
}

function isName(word: string): boolean {
  return /^\p{Lu}/u.test(word) && !FORM_WORDS.has(word.toLowerCase());
}

/**
 * Finds the words next to each number, apart from function words. The search ends at another number
 * or at a punctuation mark.
 */
export function besides(text: string, tokens: readonly NumberToken[]): Beside[] {
  const found: Beside[] = [];
  for (const [at, token] of tokens.entries()) {
    const [last, part] = [found[at - 1], tokens[at + 1]];
    // In "4 to 2", the token is the second number of a pair.
    const isPair = last !== undefined && /^\s*(?:to|:|-|\u2013)\s*$/.test(text.slice(last.token.end, token.start));
    // In "3 of its 8 engines", both numbers count engines.
    const isPart = /^\s+of\s+(?:the|its|their|his|her|these|those)\s+$/u.test(text.slice(token.end, part?.start));
    const end = part !== undefined && isPart ? part.end : token.end;
    const after = text.slice(end, end + 40).split(/[^\p{L}\p{M}'\s%-]/u)[0]!;
    const before = text.slice(Math.max(0, token.start - 40), token.start).split(/[^\p{L}\p{M}'\s-]/u);
    const first = /^[\s-]*([\p{L}\p{M}']+)/u.exec(after)?.[1];
    const next = nearest(after, 1);
    found.push({
      token,
      before: isPair && last.before !== undefined ? `${last.before} to` : nearest(before.at(-1)!, -1),
      after: next,
      isNext: first !== undefined && stemOf(first) === next,
      currency: currencyOf(text, token, next),
    });
  }
  return found;
}

function nearest(text: string, step: 1 | -1): string | undefined {
  const words = text.split(/[^\p{L}\p{M}']+/u).filter((word) => word !== '');
  if (step === -1) words.reverse();
  const word = words.slice(0, 4).find((one) => !FORM_WORDS.has(one.toLowerCase()));
  return word && stemOf(word);
}

/**
 * Compares a number with the numbers in the texts. Returns `same` if the texts have this number
 * next to the same word, `other` if they have another number there, `held` if they have this number
 * elsewhere, and undefined if they do not have it.
 */
export function numberVerdict(claimed: Beside, { numbers }: Told): 'same' | 'other' | 'held' | undefined {
  const { token, before, after, isNext } = claimed;
  const same = (ones: readonly Beside[]) => ones.some((one) => isSame(one, claimed));
  const isBeside = (one: Beside) => after !== undefined && one.after === after && one.token.ordinal === token.ordinal;
  const beside = numbers.filter((one) => isBeside(one) || (before !== undefined && one.before === before));
  // The word after a number names what is counted, and is stronger evidence than the word before.
  // Therefore "three designers" does not agree with "three engineers, two designers".
  const counted = beside.filter((one) => isNext && one.isNext && isBeside(one));
  if (counted.length > 0) return same(counted) ? 'same' : 'other';
  if (beside.length > 0) return same(beside) ? 'same' : 'other';
  return same(numbers) ? 'held' : undefined;
}

/** Returns what a number in a text may be. A text with 55,000 does not say 55. */
function usual({ readings, usual: count }: NumberToken): number[] {
  return readings.slice(0, count).map(({ value }) => value);
}

function isSame(a: Beside, b: Beside): boolean {
  const isOther = a.currency !== undefined && b.currency !== undefined && a.currency !== b.currency;
  if (isOther || a.token.percent !== b.token.percent || !haveOneUnit(a, b)) return false;
  return usual(a.token).some((x) => usual(b.token).some((y) => Math.abs(x - y) <= 1e-9 * Math.abs(x)));
}

/** Returns whether numbers have one unit directly behind them, or one has a blank before it. */
function haveOneUnit(a: Beside, b: Beside): boolean {
  const [x, y] = [a.token.glued, b.token.glued];
  if (x === y) return true;
  if (x === '') return a.isNext && a.after === stemOf(y);
  return y === '' && b.isNext && b.after === stemOf(x);
}

const CURRENCIES = new Map(
  Object.entries({ dollar: '$', usd: '$', euro: '€', eur: '€', pound: '£', gbp: '£', yen: '¥', jpy: '¥' }),
);

/** Returns the currency of a number by the sign beside it or the word behind it, if it has one. */
function currencyOf(text: string, { start, end }: NumberToken, after: string | undefined): string | undefined {
  const sign = /[$€£¥]$/.exec(text.slice(Math.max(0, start - 1), start)) ?? /^\s?[$€£¥]/.exec(text.slice(end, end + 2));
  return sign === null ? CURRENCIES.get(after ?? '') : sign[0].trim();
}

/**
 * Returns whether a text contains this time, or a time within it, with the same bound. A year may
 * also be among the numbers.
 */
export function tellsTime({ kind, bound, readings }: TimeToken, { times, numbers }: Told): boolean {
  const isTold = (inner: Stretch) => readings.some(({ first, last }) => inner.first >= first && inner.last <= last);
  if (times.some((told) => told.kind === kind && told.bound === bound && told.readings.some(isTold))) return true;
  if (bound !== 'equal' || times.some((told) => told.bound !== 'equal')) return false;
  const years = readings
    .filter(({ first, last }) => last - first > 360 * DAY_SECONDS)
    .map(({ first }) => new Date(first * 1000).getUTCFullYear());
  return numbers.some(({ token }) => token.readings.some(({ value }) => years.includes(value)));
}

function deniedIn(text: string, words: readonly WordAt[]): Denied[] {
  return denialsIn(text, true).map(({ start, end, at }) => {
    const within = words.filter(
      (word) => word.start >= start && word.end <= end && word.start !== at && !FORM_WORDS.has(word.text.toLowerCase()),
    );
    const after = within.filter((word) => word.start > at).slice(0, 2);
    const around = [...after, ...within.filter((word) => word.end <= at).slice(-1)].map(({ text }) => stemOf(text));
    return { at, main: around[0], around: new Set(around) };
  });
}

/**
 * Returns the offsets of the denials that a stored text contains too. Also returns a problem if the
 * sentence states something that a stored text denies.
 */
export function sharedDenials(
  text: string,
  { denied, stems }: Told,
): { shared: ReadonlySet<number>; problem?: string } {
  const words = wordsIn(text);
  const own = deniedIn(text, words);
  const isShared = (denial: Denied) => denied.some(({ around }) => [...denial.around].some((stem) => around.has(stem)));
  const shared = new Set(own.filter(isShared).map(({ at }) => at));
  if (stems.size === 0) return { shared };
  const stated = new Set(words.map((word) => stemOf(word.text)));
  const isDenied = (stem: string) => own.some(({ around }) => around.has(stem));
  const turned = denied.some(({ main }) => main !== undefined && stated.has(main) && !isDenied(main));
  return turned ? { shared, problem: 'it states what a cited text denies' } : { shared };
}

const ENGLISH = /\b(?:the|and|of|was|were|with|by|at|on|to|is|has|had|met|who|when|for|from|in|into|did|not)\b/i;
const OTHER_LANGUAGE = /\b(?:der|die|das|und|ist|war|sich|im|am|les|des|une|est|el|los|las|una|y|se|il|che|de la)\b/i;
/** Capitalised words that are not names. */
const OWN_WORDS =
  /^(?:i|ids?|unix|epoch|iso|tables?|columns?|rows?|data|questions?|answers?|summary|note|mr|mrs|ms|dr|nodes?|members?|hyperedges?|edges?|events?|steps?|rules?|hedge|vertex|vertices|utc|gmt|z|am|pm|ok|json|true|false|null|weight|formation|distance|confidence|score|size|times?|q[1-4]|t|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun|\w+day|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)$/i;

/** Returns whether a word is a term of answers, or of times. */
export function isOwnWord(word: string): boolean {
  return OWN_WORDS.test(word);
}

/** Maximum number of words in a sentence that are searched for names. */
const MOST_WORDS = 400;

/** Returns a problem if a name in an English sentence is not a word in any cited text. */
export function strangeName(text: string, { afterNames, stems }: Told, { knows, columns }: Values): string | undefined {
  const words = wordsIn(text).slice(0, MOST_WORDS);
  const repeats = ({ text: word }: WordAt) => /^\p{Ll}/u.test(word) && stems.has(stemOf(word));
  if (OTHER_LANGUAGE.test(text) || (!ENGLISH.test(text) && !words.some(repeats))) return undefined;
  const strange = words.find((word, at) => {
    if (!isName(word.text) || OWN_WORDS.test(word.text) || knows(word.text)) return false;
    const isFirst = at === 0 || /[!?:;|>*"([-]\s*$/.test(text.slice(words[at - 1]!.end, word.start));
    const next = words[at + 1];
    // The first word of a sentence always has a capital. It counts as a name in two cases: a stored
    // text has a name before the word that follows here, or the sentence states a column's value
    // and the word is followed by "is" or "was".
    if (!isFirst || (next !== undefined && afterNames.has(stemOf(next.text)))) return true;
    return /^(?:is|was|were)$/.test(next?.text ?? '') && words.some((one) => columns().has(one.text.toLowerCase()));
  });
  return strange && `${text.slice(strange.start, strange.end)} is a name that nothing cited contains`;
}

/** Words for parts of the day, and the hours at which each part begins and ends. */
const PARTS_OF_DAY: readonly [RegExp, number, number][] = [
  [/\b(?:noon|midday)\b/i, 11.75, 12.25],
  [/\bmidnight\b/i, 23.75, 24.25],
  [/\b(?:dawn|sunrise|daybreak)\b/i, 4, 8],
  [/\b(?:dusk|sunset|nightfall)\b/i, 16, 22],
];
const RELATIVE =
  /\b(?:yesterday|today|tomorrow|tonight|nowadays|(?:last|next|this) (?:night|week|month|year|morning|afternoon|evening|summer|winter|spring|autumn|weekend|\w+day)|\w+ (?:days?|weeks?|months?|years?|hours?) ago)\b/gi;

/** Returns whether a text names a part of the day, which `strangeTime` compares. */
export function saysTimeOfDay(text: string): boolean {
  return PARTS_OF_DAY.some(([words]) => words.test(text));
}

/** Returns a problem if a time in words is neither the time of a cited edge nor in a text. */
export function strangeTime(text: string, { plain }: Told, values: Values): string | undefined {
  const parts = PARTS_OF_DAY.map(([words, from, to]) => {
    const said = words.exec(text)?.[0];
    const isThen = (date: Date) => {
      const hour = date.getUTCHours() + date.getUTCMinutes() / 60;
      return [hour, hour + 24].some((one) => one >= from && one < to);
    };
    return said === undefined || words.test(plain) || values.dates().some(isThen) ? undefined : said;
  });
  const relative = Array.from(text.matchAll(RELATIVE), ([said]) => said);
  const strange = [...parts, ...relative.filter((said) => !plain.includes(said.toLowerCase()))].find(Boolean);
  return strange && `the time ${strange} is not that of what is cited`;
}
