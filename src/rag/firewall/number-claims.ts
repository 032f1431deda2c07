// Checks whether a number in a sentence agrees with the cited edges, steps and rules.

import type { NumberToken } from './answer-numbers.ts';
import { type Bound, boundBefore, PAIR } from './comparators.ts';
import { type Cited, hasBetween, type Values } from './edge-values.ts';
import { type Counted, countedBy, durationUnit, fieldNamed } from './field-words.ts';

/** The meaning of a number, judging by the words around it. */
interface Label {
  /** The field that the words name. */
  field: string | undefined;
  /** Whether the number may be a count of members, as in `members: 2`, rather than a member. */
  mayCount: boolean;
  approximate: boolean;
  bound: Bound;
}

export interface NumberClaim extends Label {
  token: NumberToken;
  agrees: boolean;
}

const APPROXIMATE =
  /(?:\b(?:about|around|roughly|approximately|approx\.|nearly|almost|circa|ca\.|etwa|rund|environ|unos|unas|около)\s*|[~≈约約])["'(*_`]*$/iu;
const EXACT = /\b(?:exactly|only|just|precisely|a|an|the|number|numbers|no\.|nos\.|ids?|value)\s*["'(*_`]*$/iu;
const COPULA =
  /(?:(?<![\p{L}_])(?:of|is|was|are|were|equals?|equal to|being|at|includes?|included|has|have|von|ist|war|sind|beträgt|betrug|de|des|est|était|sont|es|era|son|и|равен|составляет|है|था|थे)|[はがを是为為])\s*["'(*_`]*$/iu;
const BOUND_WORDS = /(?:[\p{L}']+|[<>=≤≥]+)(?:\s+(?:than|to|of|after|before|least|most))?\s*["'(*_`]*$/iu;
const WORD_BEFORE = /([\p{L}_][\p{L}\p{M}\p{N}_]*)["'`*_]*(\s*[#=:°]?\s*["'`*_([{]*\s*)$/u;
const SIGN_BEFORE = /(节点|節點|成员|成員|ノード|メンバー|权重|權重|重み|노드)\s*$/u;
const LIST_GAP =
  /^["'\])*_`]*\s*(?:[,;&/+、，]|and|or|und|oder|et|ou|y|e|o|и|или|和|と|و|और|[,;]\s*(?:and|or|und|et|y|и))?\s*["'[(*_`]*$/iu;
/** Matches `id is` and similar words before a number that is therefore an id. */
const ID_BEFORE = /\bid\s*(?:(?:is|was|of|=|:)\s*)?["'(*_`]*$/i;
const FIELD_AFTER = /^\s*(?:%|per ?cent)?\s*(weight|confidence|score|certainty)\b/i;

export function numberClaims(text: string, tokens: readonly NumberToken[], cited: Cited): NumberClaim[] {
  const claims: NumberClaim[] = [];
  const listed = new Set(
    tokens.flatMap(({ word, readings }) => (word ? [] : readings.slice(0, 1).map(({ value }) => value))),
  );
  for (const [index, token] of tokens.entries()) {
    const before = claims[index - 1];
    const claim: NumberClaim = { ...labelOf(text, token, cited.beside), token, agrees: false };
    const gap = text.slice(before?.token.end ?? 0, token.start);
    const isListed = before?.field === 'member' && gap.length < 12 && LIST_GAP.test(gap);
    if (isListed && !/^\s+(?:more|others?|further)\b/.test(text.slice(token.end, token.end + 12)))
      claim.field ??= 'member';
    const follower = tokens[index + 1];
    const isHeld = (part: NumberToken) => agrees(text, part, claim, cited, listed);
    if (follower !== undefined && opensRange(text, claim, follower))
      claim.agrees = isWithin(claim.field!, token, follower, cited.beside);
    else if (before !== undefined && opensRange(text, before, token)) claim.agrees = before.agrees;
    else claim.agrees = isHeld(token) || (token.parts.length > 0 && token.parts.every(isHeld));
    claims.push(claim);
  }
  return claims;
}

/** Returns whether two numbers are the ends of a range of a field: `weight between 0.4 and 0.6`. */
function opensRange(text: string, { bound, field, token }: NumberClaim, end: NumberToken): boolean {
  if (bound !== 'between' || field === undefined || field === 'member' || field === 'id') return false;
  return PAIR.test(text.slice(token.end, end.start).slice(0, 20));
}

function isWithin(field: string, low: NumberToken, high: NumberToken, values: Values): boolean {
  return low.readings.some((a) => high.readings.some((b) => hasBetween(values.field(field), a.value, b.value)));
}

/** Reads the words before a number, beginning with the nearest, and those just after it. */
function labelOf(text: string, token: NumberToken, values: Values): Label {
  let before = text.slice(Math.max(0, token.start - 60), token.start).replace(/-$/, '');
  const label: Label = { field: undefined, mayCount: false, approximate: false, bound: boundBefore(text, token.start) };
  let close = true;
  for (let rounds = 0; rounds < 5; rounds++) {
    const { length } = before;
    label.approximate ||= APPROXIMATE.test(before);
    before = before.replace(APPROXIMATE, '').replace(EXACT, '');
    const bound = boundBefore(before, before.length);
    if (bound !== 'equal') {
      label.bound = bound;
      before = before.replace(BOUND_WORDS, '').replace(/\b(?:at|no|not|on or|more|less|greater|fewer|up)\s*$/i, '');
    }
    const isSaid = COPULA.test(before);
    if (isSaid) before = before.replace(COPULA, '');
    close &&= bound === 'equal' && !isSaid;
    if (before.length === length) break;
  }
  const [, word, sign] = SIGN_BEFORE.exec(before) ?? WORD_BEFORE.exec(before) ?? [];
  if (word !== undefined) label.field = fieldNamed(word, close, values.hasField);
  label.mayCount = label.field === 'size' || (label.field === 'member' && (!close || /[=:]/.test(sign ?? '')));
  if (ID_BEFORE.test(text.slice(Math.max(0, token.start - 24), token.start))) label.field ??= 'id';
  const [, named] = FIELD_AFTER.exec(text.slice(token.end, token.end + 24)) ?? [];
  label.field ??= named?.toLowerCase().replace('certainty', 'confidence');
  return label;
}

function agrees(text: string, token: NumberToken, label: Label, cited: Cited, listed: ReadonlySet<number>): boolean {
  const after = text.slice(token.end, token.end + 60);
  const { beside, sentence } = cited;
  const { field } = label;
  const holder = field === 'confidence' && beside.steps.length === 0 ? sentence : beside;
  const isCount = (counted: Counted) => holdsCount(token, counted, label, after, cited, listed);
  const isKilometres = () =>
    /^\s*km\b/i.test(after) && isOneOf(scaled(token, 1000, 0), beside.field('mean_dist_m'), label);
  if (token.percent) return agreesAsPercent(token, label, holder);
  if (field === 'step' || field === 'rule')
    return isOneOf(token, sentence.field(field), label) || isOneOf(token, beside.field('rule text'), label);
  if (field !== undefined) {
    if (holdsBound(token, label, holder.field(field))) return true;
    if (field === 'member' && isOneOf(token, beside.field('arg'), label)) return true;
    if (field === 'mean_dist_m' && isKilometres()) return true;
    if (label.mayCount && isCount('members')) return true;
    return isOneOf(token, beside.field('rule text'), label);
  }
  const unit = durationUnit(after);
  if (unit !== undefined)
    // A duration may also be a stored value: a column, a weight, or seconds since 1970.
    return (
      isDifference(token, unit, sentence) ||
      isInFields(token, ['event_ts', 'end_ts', 'weight', 'rule text', ...beside.columns()], beside, label)
    );
  if (isKilometres()) return true;
  if (token.ordinal) return isOrdinal(token, sentence);
  const counted = text.slice(token.start, token.end).toLowerCase() === 'twice' ? 'edges' : countedBy(after);
  // "one of them", "one another" and "one event" claim nothing, but "one member" is a count.
  if (token.word && token.readings[0]!.value === 1 && (counted !== 'members' || /^\s+of\b/.test(after))) return true;
  if (counted !== 'thing' && counted !== undefined) return isCount(counted);
  if (isOneOf(token, beside.all(), label)) return true;
  if (/\b(?:day|tag|jour|día)\s*$/i.test(text.slice(Math.max(0, token.start - 6), token.start)))
    if (isDayOfMonth(token, beside)) return true;
  return (token.word || counted === 'thing') && isCount('thing');
}

function scaled(token: NumberToken, factor: number, least: number): NumberToken {
  const readings = token.readings.map(({ value, half }) => ({
    value: value * factor,
    half: Math.max(half, least) * factor,
  }));
  return { ...token, readings };
}

export function isOneOf(
  token: NumberToken,
  values: Float64Array,
  label: Pick<Label, 'approximate'> = { approximate: false },
): boolean {
  return token.readings.some(({ value, half }) => {
    const rounding = half > 0 ? half : label.approximate || Math.abs(value) >= 10 ? 0.5 : 0;
    // The stored value must round to the stated value, where halves round away from zero.
    const error = half > 0 ? Math.abs(value) * 1e-12 : 0;
    const near = value < 0 ? rounding - 1e-9 * rounding - error : rounding + error;
    const far = value < 0 ? rounding + error : rounding - 1e-9 * rounding - error;
    return hasBetween(values, value - Math.max(near, error), value + Math.max(far, error));
  });
}

/**
 * Returns whether all values, which range from `least` to `most`, keep to a bound. Returns
 * undefined if the number is not a single bound.
 */
function keepsBound(bound: Bound, value: number, least: number, most: number): boolean | undefined {
  if (bound === 'since') return least >= value;
  if (bound === 'after') return least > value;
  if (bound === 'before') return most < value;
  return bound === 'until' ? most <= value : undefined;
}

/**
 * Returns whether all values keep to the number's bound, as in `weight above 0.3`. If the number is
 * not a bound, or is a member or an id, returns whether it is one of the values.
 */
function holdsBound(token: NumberToken, { field, bound, approximate }: Label, values: Float64Array): boolean {
  const value = token.readings[0]?.value ?? Number.NaN;
  const keeps =
    values.length === 0 || field === 'member' || field === 'id'
      ? undefined
      : keepsBound(bound, value, values[0]!, values.at(-1)!);
  return keeps ?? isOneOf(token, values, { approximate });
}

function agreesAsPercent(token: NumberToken, label: Label, values: Values): boolean {
  const share = scaled(token, 1 / 100, 0.5);
  const { field } = label;
  const columns = [...values.columns()];
  if (field !== undefined && field !== 'member' && field !== 'id') {
    const holds = (said: NumberToken) => holdsBound(said, label, values.field(field));
    return holds(share) || (columns.includes(field) && holds(token));
  }
  return (
    isInFields(share, ['weight', 'confidence', ...columns], values, label) ||
    isInFields(token, [...columns, 'rule text'], values, label)
  );
}

function isInFields(token: NumberToken, fields: readonly string[], values: Values, label: Label): boolean {
  return fields.some((name) => isOneOf(token, values.field(name), label));
}

/** Returns whether two cited events are this time apart, as in `10 minutes later`. */
function isDifference({ readings }: NumberToken, unit: number, values: Values): boolean {
  const times = [...new Set(values.times())].sort((a, b) => a - b);
  const slack = unit === 1 ? 0 : unit / 2;
  const near = (from: number, to: number) => readings.some(({ value }) => Math.abs(to - from - value * unit) <= slack);
  const most = times.length > 60 ? 1 : times.length; // if there are many, only neighbours and the two ends are compared
  return (
    (times.length > 1 && near(times[0]!, times.at(-1)!)) ||
    times.some((from, index) => times.slice(index + 1, index + 1 + most).some((to) => near(from, to)))
  );
}

function isOrdinal(token: NumberToken, values: Values): boolean {
  const most = Math.max(values.edges.length, values.steps.length, ...values.edges.map((edge) => edge.members.length));
  return token.readings[0]!.value <= most || isDayOfMonth(token, values);
}

function isDayOfMonth({ readings }: NumberToken, values: Values): boolean {
  return values.dates().some((date) => date.getUTCDate() === readings[0]?.value);
}

function holdsCount(
  token: NumberToken,
  counted: Counted,
  { bound }: Label,
  after: string,
  cited: Cited,
  listed: ReadonlySet<number>,
): boolean {
  const value = token.readings[0]?.value ?? Number.NaN;
  const counts = countsOf(counted, cited, token.word || counted === 'members' ? listed : new Set());
  const most = Math.max(...counts);
  if (/^[\s*_]*(?:of|other|others|more|further|additional|remaining|weitere)\b/i.test(after))
    return value >= 1 && value <= most;
  return keepsBound(bound, value, most, Math.min(...counts)) ?? counts.includes(value);
}

function countsOf(counted: Counted, { beside, sentence }: Cited, listed: ReadonlySet<number>): number[] {
  const counts: number[] = [];
  for (const values of [beside, sentence]) {
    if (counted === 'edges' || counted === 'thing') counts.push(values.citedEdges, values.edges.length);
    if (counted === 'facts' || counted === 'thing') counts.push(values.steps.length, values.rules.length);
    if (counted === 'members' || counted === 'thing') counts.push(...values.memberCounts());
  }
  if (counted === 'members' || counted === 'thing') {
    const members = sentence.field('member');
    const named = [...listed].filter((value) => hasBetween(members, value, value)).length;
    if (named > 1) counts.push(named);
  }
  return counts.filter((count) => count > 0);
}
