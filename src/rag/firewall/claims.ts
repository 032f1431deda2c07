// Finds the stored values that a part of a sentence repeats, and compares them with the edges,
// facts and rules that this part cites.
//
// The text is searched for one kind of claim after the other: facts (`close(1, 2)`), pairs
// (`armed: true`), quotes, names of edges and steps, times, and last the remaining numbers. Claims
// that were found are blanked out, so that later searches do not read them in another way. Blanking
// keeps all offsets valid. For example, in `close(1, 2) at 14:00` the first search takes the fact
// and a later one the time, so that no number is left.
//
// In a clause that denies something the verdict is inverted: to deny a false value is right, and
// to deny a true value is a problem.

import { finish } from '../../schedule/steps.ts';
import type { Stretch } from '../question/calendar.ts';
import { numbersOf } from './answer-numbers.ts';
import { type TimeToken, timesIn } from './answer-times.ts';
import { type Cited, fieldOf, hasBetween, textsOfField, type Values } from './edge-values.ts';
import { countsCited } from './field-words.ts';
import { type KeyPlace, keyClaims, keysIn } from './key-claims.ts';
import { comparable, folded } from './lookalikes.ts';
import { denialsIn } from './negation.ts';
import { type NumberClaim, numberClaims } from './number-claims.ts';
import { predicateClaims } from './predicate-claims.ts';
import { quoteClaims } from './quote-claims.ts';
import { blank, blanked } from './scan.ts';
import { namesOutsideTags } from './tags.ts';
import { besides, numberVerdict, sharedDenials, strangeName, strangeTime, tellsTime } from './told.ts';
import { strangeValues } from './value-claims.ts';

/** One value that a sentence repeats. */
export interface Claim {
  start: number;
  end: number;
  agrees: boolean;
  /**
   * Whether any edge, fact or rule that the answer may cite contains the value. Default: `agrees`.
   */
  holds?: boolean;
  /** A `place` states a time or identifies an edge, so a negation does not refer to it. */
  kind: 'value' | 'place';
  /** The reason to give if the claim does not agree. */
  wrong: string;
}

/** The values that a part of a sentence repeats. */
export interface Repeated {
  claims: Claim[];
  numbers: readonly NumberClaim[];
  times: readonly TimeToken[];
  /** Keys of nodes. */
  keys: readonly KeyPlace[];
  /** The text in which facts, pairs, quotes, names and times are blanked out. */
  masked: string;
}

/** Work on one sentence. Each step searches it for one kind of claim. */
export type SentenceSteps<T> = Generator<undefined, T, void>;

/**
 * Returns the reason why a text disagrees with the group of tags to which it belongs, or undefined
 * if it agrees.
 */
export function problemOf(original: string, cited: Cited): string | undefined {
  return finish(problemSteps(original, cited));
}

/** Does the same as `problemOf`, in steps. */
export function* problemSteps(original: string, cited: Cited): SentenceSteps<string | undefined> {
  const text = folded(original);
  yield undefined;
  const repeated = yield* repeatedSteps(text, cited);
  if (typeof repeated === 'string') return repeated;
  yield undefined;
  forgiveStoredTexts(text, repeated.claims, cited.beside);
  const denied = checkDenials(repeated.masked, repeated.claims, cited);
  return denied ?? repeated.claims.find((claim) => !claim.agrees)?.wrong;
}

/** Maximum number of numbers in a sentence that are compared with numbers in stored texts. */
const MOST_COMPARED = 200;
/** Fields whose numbers identify something, so that they cannot come from a stored text. */
const NAMING_FIELDS: ReadonlySet<string> = new Set(['member', 'id', 'step', 'rule']);
const PLACE_FIELDS: ReadonlySet<string> = new Set(['id', 'event_ts', 'end_ts', 'step', 'rule']);

/** Returns the values that folded text repeats, or a problem that does not depend on them. */
export function repeatedIn(text: string, cited: Cited): Repeated | string {
  return finish(repeatedSteps(text, cited));
}

function* repeatedSteps(text: string, cited: Cited): SentenceSteps<Repeated | string> {
  const { beside, sentence } = cited;
  const facts = predicateClaims(text, cited);
  const withoutFacts = blanked(text, facts);
  yield undefined;
  const pairs = pairClaims(withoutFacts, beside);
  const withoutPairs = blanked(withoutFacts, pairs);
  yield undefined;
  const quotes = quoteClaims(withoutPairs, text, beside);
  for (const claim of [...facts, ...pairs])
    claim.agrees ||= quotes.some((quote) => quote.agrees && quote.start < claim.start && claim.end < quote.end);
  const keyPlaces = keysIn(withoutFacts, cited.keyed);
  const keys = keyClaims(keyPlaces, [...pairs, ...quotes], cited);
  const withoutQuotes = blanked(blanked(withoutPairs, quotes), keys);
  yield undefined;
  const foreign = foreignAddress(withoutQuotes, beside) ?? untaggedName(withoutQuotes, sentence);
  if (foreign !== undefined) return foreign;
  const withoutNames = withoutQuotes.replace(NAME, blank);
  yield undefined;
  const times = timeClaims(withoutNames, beside);
  const masked = blanked(withoutNames, times);
  yield undefined;
  const told = beside.told();
  yield undefined;
  const strange = strangeTime(masked, told, beside) ?? strangeName(masked, told, sentence);
  if (strange !== undefined) return strange;
  yield undefined;
  const found = numbersOf(masked);
  yield undefined;
  const numbers = numberClaims(masked, found, cited);
  yield undefined;
  const places = besides(
    masked,
    numbers.slice(0, MOST_COMPARED).map(({ token }) => token),
  );
  for (const [at, place] of places.entries()) {
    const { field, token } = numbers[at]!;
    const verdict = numberVerdict(place, told);
    if (verdict === 'same' && !NAMING_FIELDS.has(field ?? '')) numbers[at]!.agrees = true;
    else if (field === undefined && verdict !== undefined && !countsCited(masked.slice(token.end, token.end + 60)))
      numbers[at]!.agrees = verdict === 'held';
  }
  yield undefined;
  const claims: Claim[] = [...quotes, ...keys, ...facts, ...pairs, ...times, ...weekdayClaims(withoutNames, beside)];
  for (const value of strangeValues(masked, cited.isValue, sentence.knows))
    claims.push({ ...value, agrees: false, kind: 'value' });
  for (const { token, agrees, field } of numbers) {
    const { start, end } = token;
    const wrong = `${field ?? 'the number'} ${text.slice(start, end)} is not in what is cited`;
    claims.push({ start, end, agrees, kind: PLACE_FIELDS.has(field ?? '') ? 'place' : 'value', wrong });
  }
  return { claims, numbers, times: times.map(({ token }) => token), masked, keys: keyPlaces };
}

const NAME = /hedge[\s_#:.(-]{0,3}\d{1,17}|\b(?:step|rule)[-_#]\d{1,17}/gi;

/**
 * Returns a problem if the text names an edge, step or rule that the sentence does not cite, as in
 * `HEDGE-12 shows ...`.
 */
function untaggedName(text: string, cited: Values): string | undefined {
  const { tags, problem } = namesOutsideTags(text);
  const untagged = tags.find(
    ({ kind, number }) => !hasBetween(cited.field(kind === 'HEDGE' ? 'id' : kind.toLowerCase()), number, number),
  );
  return problem ?? (untagged && `it names ${untagged.kind}-${untagged.number} without its tag`);
}

const ELEMENT = /<\/?(?:script|img|iframe|a|style|svg|object|embed|form|input|link|meta|base)\b/i;
const ADDRESS = /\b(?:https?:|ftp:|file:|mailto:|data:|javascript:|vbscript:|www\.)[^\s)>\]"'`]+|(?<=\]\()[^\s)]*/gi;

/**
 * Returns a problem if the text contains an HTML element, or an address that is in no stored text.
 * Such an address could lead the reader to another site, or send data there.
 */
function foreignAddress(text: string, values: Values): string | undefined {
  if (ELEMENT.test(text)) return 'it contains an HTML element';
  const isForeign = ([match]: RegExpExecArray) => {
    const address = match.toLowerCase().replace(/[.,;:!?]+$/, '');
    return address !== '' && ![...values.texts()].some((stored) => stored.includes(address));
  };
  return [...text.matchAll(ADDRESS)].some(isForeign) ? 'it holds an address that no cited edge holds' : undefined;
}

/** Matches a field and a value, as in `formation=escort` and `armed: true`. */
const PAIRED =
  /([\p{L}_][\p{L}\p{M}\p{N}_]{0,63})["'`*]{0,3}\s{0,3}(=|:|\bis\b)\s{0,3}["'`*]{0,3}([\p{L}_][\p{L}\p{M}\p{N}_-]{0,63})/gu;
/** Matches `formation was dinner` in "the formation was dinner", and `in formation escort`. */
const NAMED_WORD =
  /\b([\p{L}_][\p{L}\p{M}\p{N}_]{1,63})\s+(?:was|is|were|being|called|reads?|equals?)\s+([\p{L}][\p{L}\p{M}\p{N}_-]{2,63})(?![\p{L}\p{N}_-])|\bin\s+(formation)\s+([\p{L}][\p{L}\p{M}\p{N}_-]{2,63})(?![\p{L}\p{N}_-])/giu;
/** Words that describe a value without repeating it. */
const PLAIN_WORD =
  /^(?:not|never|no|the|that|this|also|still|again|always|one|same|different|equal|known|unknown|missing|absent|empty|null|none|unset|given|stored|recorded|listed|noted|seen|shown|observed|reported|described|called|named|used|found|set|and|with|without|for|from|about|around|above|below|over|under|between|higher|lower|greater|smaller|larger|less|more|high|low|true|false|there|only|just|now|then|what|which|of|\w+ed|\w+ing)$/i;

/**
 * Finds fields followed by a value that is not a number, and checks that a cited edge has this
 * value in the field.
 */
function pairClaims(text: string, values: Values): Claim[] {
  const claims: Claim[] = [];
  /** Adds a claim that covers the value only, so that a quotation mark before it is not blanked. */
  const add = (end: number, name: string, word: string, agrees: boolean) => {
    const wrong = `${name} ${word} is not in what is cited`;
    claims.push({ start: end - word.length, end, agrees, kind: 'value', wrong });
  };
  const textsOf = (name: string) => textsOfField(name.toLowerCase(), values.edges).map(comparable);
  for (const { 0: pair, 1: name, 2: sign, 3: word, index } of text.matchAll(PAIRED)) {
    if (!values.hasField(name!.toLowerCase())) continue;
    const value = comparable(word!);
    const stored = textsOf(name!);
    const isNumeric = stored.length === 0 && values.field(name!.toLowerCase()).length > 0;
    // Plain words, as in "formation is seen", and words after a numeric field are checked
    // elsewhere.
    if (!/^(?:true|false|null)$/.test(value) && (sign === 'is' || isNumeric)) continue;
    const isNull = () => values.edges.some((edge) => fieldOf(name!.toLowerCase(), edge).includes(null));
    const agrees = /^(?:null|none)$/.test(value) ? isNull() : stored.some((one) => one.startsWith(value));
    add(index + pair.length, name!, word!, agrees);
  }
  for (const match of text.matchAll(NAMED_WORD)) {
    const [name, word] = [match[1] ?? match[3]!, match[2] ?? match[4]!];
    const stored = textsOf(name);
    if (stored.length === 0 || PLAIN_WORD.test(word)) continue;
    const agrees = stored.some((one) => one.split(/[^\p{L}\p{M}\p{N}_-]+/u).includes(comparable(word)));
    add(match.index + match[0].length, name.toLowerCase(), word, agrees);
  }
  return claims
    .sort((a, b) => a.start - b.start)
    .filter((claim, index, all) => index === 0 || claim.start >= all[index - 1]!.end);
}

function timeClaims(text: string, values: Values): (Claim & { token: TimeToken })[] {
  const years = new Set(values.dates().map((date) => date.getUTCFullYear()));
  return timesIn(text, [...years]).map((token) => {
    const { start, end } = token;
    const wrong = `the time ${text.slice(start, end)} is not that of what is cited`;
    return {
      start,
      end,
      agrees:
        timeAgrees(token, values) || tellsTime(token, values.told()) || isToldMonth(text.slice(start, end), values),
      kind: 'place',
      wrong,
      token,
    };
  });
}

/** Returns whether a text has the name of a month, unless the name is an ordinary word too. */
function isToldMonth(said: string, values: Values): boolean {
  return /^[a-z]{3,}$/.test(said) && !/^(?:may|march|mar)$/.test(said) && values.knows(said);
}

const WEEKDAYS = ['Sun', 'Mon', 'Tues', 'Wednes', 'Thurs', 'Fri', 'Satur'];
/** Matches a weekday that is not the bound of a period. */
const WEEKDAY = new RegExp(
  `(?<!\\b(?:since|after|before|until|by|between|next|last)\\s+)\\b(${WEEKDAYS.join('|')})day\\b`,
  'gi',
);

function weekdayClaims(text: string, values: Values): Claim[] {
  return Array.from(text.matchAll(WEEKDAY), ({ 0: said, 1: name, index: start }) => {
    const day = WEEKDAYS.findIndex((one) => one.toLowerCase() === name!.toLowerCase());
    const agrees =
      values.edges.length === 0 ||
      values.told().plain.includes(said.toLowerCase()) ||
      values.dates().some((date) => date.getUTCDay() === day);
    return { start, end: start + said.length, agrees, kind: 'place', wrong: `${said} is not the day of what is cited` };
  });
}

export function timeAgrees(token: TimeToken, values: Values): boolean {
  const { readings, kind, bound, other } = token;
  const of = (ts: number) => (kind === 'clock' ? ((ts % 86_400) + 86_400) % 86_400 : ts);
  const times = values.times().map(of);
  const isInside = ({ first, last }: Stretch, days = 0) =>
    times.some((time) => time - days * 86_400 >= first && time - days * 86_400 <= last);
  const isOne = readings.some(
    (reading) => isInside(reading) || (kind === 'instant' && reading.first >= 1e8 && isStoredTime(reading, values)),
  );
  // A time of day with a time zone may fall on the day before or after in UTC.
  if (kind === 'clock' && readings.some((reading) => isInside(reading, 1) || isInside(reading, -1))) return true;
  if (bound === 'equal') return isOne;
  const satisfies = (time: number) =>
    readings.some(({ first, last }) => {
      if (bound === 'since') return time >= first;
      if (bound === 'after') return time > last;
      if (bound === 'before') return time < first;
      if (bound === 'until') return time <= last;
      return other!.readings.some((end) =>
        other!.start > token.start ? time >= first && time <= end.last : time >= end.first && time <= last,
      );
    });
  if (times.length > 0 && times.every(satisfies)) return true;
  return isOne && (bound === 'between' || times.some(satisfies));
}

/** Returns whether a column or an argument of a fact contains the time. */
function isStoredTime({ first, last }: Stretch, values: Values): boolean {
  return ['arg', ...values.columns()].some((name) => hasBetween(values.field(name), first, last + 1 - 1e-6));
}

/** Accepts numbers and times that are part of a repeated stored text, such as the 7 in `wing 7`. */
function forgiveStoredTexts(text: string, claims: readonly Claim[], values: Values): void {
  const failed = claims.filter((claim) => !claim.agrees);
  if (failed.length === 0 || failed.length > 50) return;
  const lower = text.toLowerCase();
  const texts = [...values.texts()].filter(({ length }) => length <= 400);
  for (const claim of failed) {
    const { start, end } = claim;
    claim.agrees = texts.some(
      (stored) =>
        stored.length >= end - start &&
        lower.slice(Math.max(0, end - stored.length), start + stored.length).includes(stored),
    );
  }
}

/**
 * Accepts false claims that the text denies. Returns a problem if the text denies a true claim, or
 * something else that no cited text, empty field or rule denies.
 */
function checkDenials(text: string, claims: Claim[], { beside, sentence }: Cited): string | undefined {
  const { shared, problem } = sharedDenials(text, beside.told());
  if (problem !== undefined) return problem;
  for (const { start, end, at } of denialsIn(text)) {
    if (shared.has(at)) continue;
    const within = claims.filter((claim) => claim.kind === 'value' && claim.start >= start && claim.end <= end);
    const after = within.filter((claim) => claim.start >= at);
    const scope = after.length > 0 ? after : within;
    const untrue = scope.filter((claim) => !(claim.holds ?? claim.agrees));
    if (scope.length > 0) {
      if (untrue.length === 0 || (after.length > 0 && untrue.length < scope.length)) return 'it denies what is cited';
      for (const claim of untrue) claim.agrees = true;
    } else if (
      !namesEmptyField(text.slice(start, end).toLowerCase(), beside) &&
      !sentence.rules.some((rule) => /\bnot\b/.test(rule.text))
    )
      return 'it denies something that what is cited does not deny';
  }
  return undefined;
}

function namesEmptyField(clause: string, values: Values): boolean {
  const isNamed = (name: string) =>
    [name, name.replace(/_/g, ' '), name === 'mean_dist_m' ? 'distance' : name].some((one) => clause.includes(one));
  return ['weight', 'formation', 'mean_dist_m', ...values.columns()].some(
    (name) => isNamed(name) && values.isEmpty(name),
  );
}
