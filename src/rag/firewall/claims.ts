// Extracts from a part of a sentence the stored values it repeats (texts, facts, times, numbers),
// and checks them against what it cites.
//
// Extraction works by masking: each pass finds the claims of one kind and blanks them out, so that
// no later pass reads them in another way. The order matters: facts (`close(1, 2)`), pairs (`armed:
// true`), quotes, names of edges and steps, times, and last the numbers that are left. Offsets stay
// valid, because blanking keeps the length of the text.
//
// A number is then compared with the numbers of cited texts too: if a text has a number next to the
// same word, it must be that number (told.ts). Finally, claims inside a clause that denies
// something are inverted: denying a false value is right, and denying a true one is a problem.

import type { Stretch } from '../question/calendar.ts';
import { numbersOf } from './answer-numbers.ts';
import { type TimeToken, timesIn } from './answer-times.ts';
import { hasBetween, textsOfField, type Values } from './edge-values.ts';
import { countedBy } from './field-words.ts';
import { comparable, folded } from './lookalikes.ts';
import { denialsIn } from './negation.ts';
import { type Cited, type NumberClaim, numberClaims } from './number-claims.ts';
import { predicateClaims } from './predicate-claims.ts';
import { quoteClaims } from './quote-claims.ts';
import { namesOutsideTags } from './tags.ts';
import { besides, numberVerdict, sharedDenials, strangeName, strangeTime, tellsTime } from './told.ts';

/** One value that a sentence repeats. */
export interface Claim {
  start: number;
  end: number;
  agrees: boolean;
  /**
   * Whether it is true of anything the whole answer rests on, which decides whether it may be
   * denied. Default: `agrees`.
   */
  holds?: boolean;
  /** `place`: tells when or which edge, so a negation does not refer to it. */
  kind: 'value' | 'place';
  /** The reason if it does not agree. */
  wrong: string;
}

/** The values that a part of a sentence repeats. */
export interface Repeated {
  claims: Claim[];
  numbers: readonly NumberClaim[];
  times: readonly { token: TimeToken; claim: Claim }[];
  /** The text with tags, quotes, facts, names and times blanked out. */
  masked: string;
}

/**
 * Why `original` (the text that belongs to one group of tags) disagrees with what it cites;
 * undefined if everything that can be checked agrees.
 */
export function problemOf(original: string, cited: Cited, derives: (fact: string) => boolean): string | undefined {
  const text = folded(original);
  const repeated = repeatedIn(text, cited, derives);
  if (typeof repeated === 'string') return repeated;
  forgiveStoredTexts(text, repeated.claims, cited.beside);
  const denied = checkDenials(repeated.masked, repeated.claims, cited);
  return denied ?? repeated.claims.find((claim) => !claim.agrees)?.wrong;
}

/** The values that folded text repeats, or a problem that is independent of them. */
export function repeatedIn(text: string, cited: Cited, derives: (fact: string) => boolean): Repeated | string {
  const predicates = predicateClaims(text, cited.sentence, derives);
  const withoutFacts = blanked(text, predicates);
  const pairs = pairClaims(withoutFacts, cited.beside);
  const withoutPairs = blanked(withoutFacts, pairs);
  const quotes = quoteClaims(withoutPairs, text, cited.beside);
  const withoutQuotes = blanked(withoutPairs, quotes);
  for (const claim of [...predicates, ...pairs]) {
    if (quotes.some((quote) => quote.agrees && quote.start < claim.start && claim.end < quote.end)) claim.agrees = true;
  }
  const address = foreignAddress(withoutQuotes, cited.beside);
  if (address !== undefined) return address;
  const names = withoutNames(withoutQuotes, cited.sentence);
  if (names.problem !== undefined) return names.problem;
  const times = timeClaims(names.masked, cited.beside);
  const claims = [...quotes, ...predicates, ...pairs, ...times.claims];
  const told = cited.beside.told();
  const strange = strangeTime(
    times.masked,
    told,
    cited.beside.edges.map(({ event_ts }) => event_ts),
  );
  if (strange !== undefined) return `the time ${strange} is not that of what is cited`;
  const name = strangeName(times.masked, told, cited.sentence);
  if (name !== undefined) return `${text.slice(name.start, name.end)} is a name in nothing that is cited`;
  const numbers = numberClaims(times.masked, numbersOf(times.masked), cited);
  const compared = numbers.slice(0, MOST_COMPARED);
  const places = besides(
    times.masked,
    compared.map(({ token }) => token),
  );
  for (const [at, claim] of compared.entries()) {
    const verdict = numberVerdict(places[at]!, told);
    if (claim.field !== undefined) {
      if (verdict === 'same' && !NAMING_FIELDS.has(claim.field)) claim.agrees = true;
      continue;
    }
    const counted = countedBy(times.masked.slice(claim.token.end, claim.token.end + 60));
    const countsOwn = counted === 'members' || counted === 'edges' || counted === 'facts';
    if (verdict === 'same' || (verdict === 'held' && !countsOwn)) claim.agrees = true;
    else if (verdict === 'other' && !countsOwn) claim.agrees = false;
  }
  for (const { token, agrees, field } of numbers) {
    const { start, end } = token;
    const isPlace = field === 'id' || field === 'event_ts' || field === 'step' || field === 'rule';
    const wrong = `${field ?? 'the number'} ${text.slice(start, end)} is not what is cited`;
    claims.push({ start, end, agrees, kind: isPlace ? 'place' : 'value', wrong });
  }
  return { claims, numbers, times: times.tokens, masked: times.masked };
}

/** Numbers of a sentence that are compared with the numbers of texts. */
const MOST_COMPARED = 200;
/** Fields whose numbers identify things and so cannot come from a text. */
const NAMING_FIELDS: ReadonlySet<string> = new Set(['member', 'id', 'step', 'rule']);

/**
 * `HEDGE-12 shows ...`: whatever is named outside brackets must be cited as well. `masked`: the
 * text without such names.
 */
function withoutNames(text: string, cited: Values): { masked: string; problem: string | undefined } {
  const { tags, problem } = namesOutsideTags(text);
  if (problem !== undefined) return { masked: text, problem };
  for (const { kind, number } of tags) {
    const numbers = cited.field(kind === 'HEDGE' ? 'id' : kind.toLowerCase());
    if (!hasBetween(numbers, number, number))
      return { masked: text, problem: `it names ${kind}-${number} without its tag` };
  }
  return {
    masked: tags.length === 0 ? text : text.replace(NAME, (name) => ' '.repeat(name.length)),
    problem: undefined,
  };
}

const NAME = /hedge[\s_#:.(-]{0,3}\d{1,17}|\b(?:step|rule)[-_#]\d{1,17}/gi;

/**
 * An address or HTML element that is in no stored text could lead the reader, or data, elsewhere.
 */
function foreignAddress(text: string, values: Values): string | undefined {
  if (/<\/?(?:script|img|iframe|a|style|svg|object|embed|form|input|link|meta|base)\b/i.test(text))
    return 'it holds an element of markup';
  for (const match of text.matchAll(
    /\b(?:https?:|ftp:|file:|mailto:|data:|javascript:|vbscript:|www\.)[^\s)>\]"'`]+|(?<=\]\()[^\s)]*/gi,
  )) {
    const address = match[0].toLowerCase().replace(/[.,;:!?]+$/, '');
    if (address !== '' && ![...values.texts()].some((stored) => stored.includes(address)))
      return 'it holds an address that no cited edge holds';
  }
  return undefined;
}

/** `formation=escort`, `armed: true`: fields with values that are not numbers. */
function pairClaims(text: string, values: Values): Claim[] {
  const claims: Claim[] = [];
  for (const match of text.matchAll(
    /([\p{L}_][\p{L}\p{M}\p{N}_]{0,63})["'`*]{0,3}\s{0,3}(=|:|\bis\b)\s{0,3}["'`*]{0,3}([\p{L}_][\p{L}\p{M}\p{N}_-]{0,63})/gu,
  )) {
    const name = match[1]!.toLowerCase();
    if (!values.hasField(name)) continue;
    const value = comparable(match[3]!);
    const isConstant = /^(?:true|false|null)$/.test(value);
    if (match[2] === 'is' && !isConstant) continue; // plain words, such as "formation is seen"
    const stored = textsOfField(name, values.edges).map(comparable);
    const agrees =
      value === 'null' || value === 'none'
        ? values.edges.some((edge) => isNull(edge, name))
        : stored.some((text) => text.startsWith(value));
    const isNumeric = values.field(name).length > 0 && !isConstant && stored.length === 0;
    if (isNumeric) continue; // the number, or words about it, are checked elsewhere
    const end = match.index + match[0].length;
    const wrong = `${match[1]} ${match[3]} is not what is cited`;
    // Starts at the value, so that quotes before it stay in place.
    claims.push({ start: end - match[3]!.length, end, agrees, kind: 'value', wrong });
  }
  claims.push(...wordClaims(text, values));
  return claims
    .sort((a, b) => a.start - b.start)
    .filter((claim, index, all) => index === 0 || claim.start >= all[index - 1]!.end);
}

/**
 * `the formation was dinner`, `in formation escort`: a text column named next to a word, which must
 * be one of its texts.
 */
function wordClaims(text: string, values: Values): Claim[] {
  const claims: Claim[] = [];
  for (const match of text.matchAll(NAMED_WORD)) {
    const name = (match[1] ?? match[3])!.toLowerCase();
    const word = (match[2] ?? match[4])!;
    if (!values.hasField(name) || PLAIN_WORD.test(word)) continue;
    const stored = textsOfField(name, values.edges).map(comparable);
    if (stored.length === 0) continue;
    const value = comparable(word);
    const end = match.index + match[0].length;
    const agrees = stored.some((one) => one.split(/[^\p{L}\p{M}\p{N}_-]+/u).includes(value));
    const wrong = `${name} ${word} is not what is cited`;
    claims.push({ start: end - word.length, end, agrees, kind: 'value', wrong });
  }
  return claims;
}

/** A word after the name of its column, or after `in formation`. */
const NAMED_WORD =
  /\b([\p{L}_][\p{L}\p{M}\p{N}_]{1,63})\s+(?:was|is|were|being|called|reads?|equals?)\s+([\p{L}][\p{L}\p{M}\p{N}_-]{2,63})(?![\p{L}\p{N}_-])|\bin\s+(formation)\s+([\p{L}][\p{L}\p{M}\p{N}_-]{2,63})(?![\p{L}\p{N}_-])/giu;
/** Words that say something about a value without repeating it. */
const PLAIN_WORD =
  /^(?:not|never|no|the|that|this|also|still|again|always|one|same|different|equal|known|unknown|missing|absent|empty|null|none|unset|given|stored|recorded|listed|noted|seen|shown|observed|reported|described|called|named|used|found|set|and|with|without|for|from|about|around|above|below|over|under|between|higher|lower|greater|smaller|larger|less|more|high|low|true|false|there|only|just|now|then|what|which|of|\w+ed|\w+ing)$/i;

/** `text` with the claims replaced by spaces; the claims are in order and do not overlap. */
function blanked(text: string, claims: readonly Claim[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of claims) {
    parts.push(text.slice(at, start), ' '.repeat(end - start));
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join('');
}

function isNull(edge: Values['edges'][number], name: string): boolean {
  if (name === 'weight' || name === 'mean_dist_m' || name === 'formation') return edge[name] === null;
  return Object.entries(edge.properties).some(([column, value]) => column.toLowerCase() === name && value === null);
}

function timeClaims(text: string, values: Values): { masked: string; claims: Claim[]; tokens: Repeated['times'] } {
  const years = [...new Set(values.edges.map((edge) => new Date(edge.event_ts * 1000).getUTCFullYear()))];
  const tokens = timesIn(text, years).map((token) => {
    const { start, end } = token;
    const wrong = `the time ${text.slice(start, end)} is not that of what is cited`;
    const agrees = timeAgrees(token, values) || tellsTime(token, values.told());
    const claim: Claim = { start, end, agrees, kind: 'place', wrong };
    return { token, claim };
  });
  const claims = tokens.map(({ claim }) => claim);
  const masked = blanked(text, claims);
  for (const match of text.matchAll(WEEKDAY)) {
    if (BEFORE_BOUND.test(text.slice(Math.max(0, match.index - 10), match.index))) continue;
    const day = WEEKDAYS.indexOf(match[1]!);
    const agrees =
      values.edges.length === 0 ||
      values.told().plain.includes(match[0].toLowerCase()) ||
      values.edges.some((edge) => new Date(edge.event_ts * 1000).getUTCDay() === day);
    const end = match.index + match[0].length;
    const wrong = `${match[0]} is not the day of what is cited`;
    claims.push({ start: match.index, end, agrees, kind: 'place', wrong });
  }
  return { masked, claims, tokens };
}

const WEEKDAYS = ['Sun', 'Mon', 'Tues', 'Wednes', 'Thurs', 'Fri', 'Satur'];
const WEEKDAY = new RegExp(`\\b(${WEEKDAYS.join('|')})day\\b`, 'g');
/** Text before a weekday that makes it the bound of a period. */
const BEFORE_BOUND = /\b(?:since|after|before|until|by|between|next|last)\s+$/i;

export function timeAgrees(token: TimeToken, values: Values): boolean {
  const { readings, kind, bound, other } = token;
  const of = (ts: number) => (kind === 'clock' ? ((ts % 86_400) + 86_400) % 86_400 : ts);
  const times = values.edges.map((edge) => of(edge.event_ts));
  const isInside = ({ first, last }: Stretch, days = 0) =>
    times.some((time) => time - days * 86_400 >= first && time - days * 86_400 <= last);
  const isOne = readings.some(
    (reading) => isInside(reading) || (kind === 'instant' && reading.first >= 1e8 && isStoredTime(reading, values)),
  );
  // A time of day with a zone may be that of the day before or after.
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

/** Columns and arguments may contain times too. */
function isStoredTime({ first, last }: Stretch, values: Values): boolean {
  return ['arg', ...values.columns()].some((name) => hasBetween(values.field(name), first, last + 1 - 1e-6));
}

/** Accepts numbers and days that are part of a stored text, such as `wing 7`. */
function forgiveStoredTexts(text: string, claims: readonly Claim[], values: Values): void {
  const failed = claims.filter((claim) => !claim.agrees);
  if (failed.length === 0 || failed.length > 50) return;
  const lower = text.toLowerCase();
  for (const claim of failed) {
    for (const stored of values.texts()) {
      if (stored.length > 400 || stored.length < claim.end - claim.start) continue;
      const around = lower.slice(Math.max(0, claim.end - stored.length), claim.start + stored.length);
      if (around.includes(stored)) {
        claim.agrees = true;
        break;
      }
    }
  }
}

/**
 * Settles the claims inside clauses that deny something. Returns a problem if the sentence denies
 * something true.
 */
function checkDenials(text: string, claims: Claim[], cited: Cited): string | undefined {
  const { beside, sentence } = cited;
  const { shared, problem } = sharedDenials(text, beside.told());
  if (problem !== undefined) return problem;
  for (const { start, end, at } of denialsIn(text)) {
    if (shared.has(at)) continue;
    const within = claims.filter((claim) => claim.kind === 'value' && claim.start >= start && claim.end <= end);
    const after = within.filter((claim) => claim.start >= at);
    const scope = after.length > 0 ? after : within;
    const untrue = scope.filter((claim) => !(claim.holds ?? claim.agrees));
    if (scope.length > 0 && (after.length > 0 ? untrue.length === scope.length : untrue.length > 0)) {
      for (const claim of untrue) claim.agrees = true;
      continue;
    }
    if (scope.length > 0) return 'it denies what is cited';
    const clause = text.slice(start, end).toLowerCase();
    if (namesEmptyField(clause, beside)) continue;
    if (sentence.rules.some((rule) => /\bnot\b/.test(rule.text))) continue;
    return 'it denies something that what is cited does not deny';
  }
  return undefined;
}

function namesEmptyField(clause: string, values: Values): boolean {
  const names = ['weight', 'formation', 'mean_dist_m', ...values.columns()];
  const isNamed = (name: string) =>
    clause.includes(name) ||
    clause.includes(name.replace(/_/g, ' ')) ||
    (name === 'mean_dist_m' && clause.includes('distance'));
  return names.some((name) => isNamed(name) && values.isEmpty(name));
}
