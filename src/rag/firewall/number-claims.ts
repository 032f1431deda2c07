// Checks whether a number of a sentence agrees with the cited edges, steps and rules.

import type { NumberToken } from './answer-numbers.ts';
import { type Bound, boundBefore, PAIR } from './comparators.ts';
import { hasBetween, type Values } from './edge-values.ts';
import { type Counted, countedBy, durationUnit, fieldNamed } from './field-words.ts';

/** The values cited next to a part of a sentence, and by the whole sentence. */
export interface Cited {
  readonly beside: Values;
  readonly sentence: Values;
}

export interface NumberClaim {
  token: NumberToken;
  agrees: boolean;
  /** The field that the words around the number name. */
  field: string | undefined;
  bound: Bound;
}

interface Label {
  field: string | undefined;
  /** `members: 2` may be a count of them. */
  mayCount: boolean;
  approximate: boolean;
  bound: Bound;
}

const APPROXIMATE =
  /(?:\b(?:about|around|roughly|approximately|approx\.|nearly|almost|circa|ca\.|etwa|rund|environ|unos|unas|около)\s*|[~≈约約])["'(*_`]*$/iu;
const EXACT = /\b(?:exactly|only|just|precisely|a|an|the|number|numbers|no\.|nos\.|ids?|value)\s*["'(*_`]*$/iu;
const COPULA =
  /(?:(?<![\p{L}_])(?:of|is|was|are|were|equals?|equal to|being|at|includes?|included|has|have|von|ist|war|sind|beträgt|betrug|de|des|est|était|sont|es|era|son|и|равен|составляет|है|था|थे)|[はがを是为為])\s*["'(*_`]*$/iu;
const WORD_BEFORE = /([\p{L}_][\p{L}\p{M}\p{N}_]*)["'`*_]*(\s*[#=:°]?\s*["'`*_([{]*\s*)$/u;
const SIGN_BEFORE = /(节点|節點|成员|成員|ノード|メンバー|权重|權重|重み|노드)\s*$/u;
const LIST_GAP =
  /^["'\])*_`]*\s*(?:[,;&/+、，]|and|or|und|oder|et|ou|y|e|o|и|или|和|と|و|और|[,;]\s*(?:and|or|und|et|y|и))?\s*["'[(*_`]*$/iu;
/** `its id is`, without a word before it that says whose. */
const ID_BEFORE = /\bid\s*(?:(?:is|was|of|=|:)\s*)?["'(*_`]*$/i;
const FIELD_AFTER = /^\s*(?:%|per ?cent)?\s*(weight|confidence|score|certainty)\b/i;

export function numberClaims(text: string, tokens: readonly NumberToken[], cited: Cited): NumberClaim[] {
  const claims: NumberClaim[] = [];
  let before: NumberClaim | undefined;
  const listed = new Set(
    tokens.flatMap((token) => (token.word ? [] : token.readings.slice(0, 1).map(({ value }) => value))),
  );
  for (const [index, token] of tokens.entries()) {
    const label = labelOf(text, token, cited.beside);
    const gap = before === undefined ? '' : text.slice(before.token.end, token.start);
    if (
      label.field === undefined &&
      before?.field === 'member' &&
      gap.length < 12 &&
      LIST_GAP.test(gap) &&
      !/^\s+(?:more|others?|further)\b/.test(text.slice(token.end, token.end + 12))
    )
      label.field = 'member';
    const follower = tokens[index + 1];
    const isPair =
      label.bound === 'between' &&
      follower !== undefined &&
      PAIR.test(text.slice(token.end, follower.start).slice(0, 20));
    const claim: NumberClaim = { token, field: label.field, bound: label.bound, agrees: false };
    if (isPair && label.field !== undefined && label.field !== 'member' && label.field !== 'id') {
      claim.agrees = isWithin(label.field, token, follower, cited.beside);
    } else if (before !== undefined && before.field !== undefined && boundPair(text, before, token)) {
      claim.agrees = before.agrees;
    } else {
      claim.agrees =
        agrees(text, token, label, cited, listed) ||
        (token.parts.length > 0 && token.parts.every((part) => agrees(text, part, label, cited, listed)));
    }
    claims.push(claim);
    before = claim;
  }
  return claims;
}

/** Whether `token` is the upper end of a range of a named field that `before` opened. */
function boundPair(text: string, before: NumberClaim, token: NumberToken): boolean {
  if (before.field === 'member' || before.field === 'id') return false;
  return (
    boundBefore(text, before.token.start) === 'between' &&
    PAIR.test(text.slice(before.token.end, token.start).slice(0, 20))
  );
}

function isWithin(field: string, low: NumberToken, high: NumberToken, values: Values): boolean {
  return low.readings.some((a) => high.readings.some((b) => hasBetween(values.field(field), a.value, b.value)));
}

/** The field that the words before (or just after) a number name. */
function labelOf(text: string, token: NumberToken, values: Values): Label {
  let before = text.slice(Math.max(0, token.start - 60), token.start).replace(/-$/, '');
  const label: Label = { field: undefined, mayCount: false, approximate: false, bound: boundBefore(text, token.start) };
  let close = true;
  for (let rounds = 0; rounds < 5; rounds++) {
    const length = before.length;
    if (APPROXIMATE.test(before)) {
      label.approximate = true;
      before = before.replace(APPROXIMATE, '');
    }
    before = before.replace(EXACT, '');
    if (boundBefore(before, before.length) !== 'equal') {
      label.bound = boundBefore(before, before.length);
      before = before
        .replace(/(?:[\p{L}']+|[<>=≤≥]+)(?:\s+(?:than|to|of|after|before|least|most))?\s*["'(*_`]*$/iu, '')
        .replace(/\b(?:at|no|not|on or|more|less|greater|fewer|up)\s*$/i, '');
      close = false;
    }
    if (COPULA.test(before)) {
      before = before.replace(COPULA, '');
      close = false;
    }
    if (before.length === length) break;
  }
  const match = SIGN_BEFORE.exec(before) ?? WORD_BEFORE.exec(before);
  if (match !== null) {
    label.field = fieldNamed(match[1]!, close, values.hasField);
    label.mayCount = label.field === 'size' || (label.field === 'member' && (!close || /[=:]/.test(match[2] ?? '')));
  }
  if (label.field === undefined && ID_BEFORE.test(text.slice(Math.max(0, token.start - 24), token.start)))
    label.field = 'id';
  if (label.field === undefined) {
    const after = FIELD_AFTER.exec(text.slice(token.end, token.end + 24));
    if (after !== null) label.field = after[1]!.toLowerCase() === 'certainty' ? 'confidence' : after[1]!.toLowerCase();
  }
  return label;
}

function agrees(text: string, token: NumberToken, label: Label, cited: Cited, listed: ReadonlySet<number>): boolean {
  const after = text.slice(token.end, token.end + 60);
  const { beside, sentence } = cited;
  const { field } = label;
  if (token.percent)
    return agreesAsPercent(token, label, label.field === 'confidence' && beside.steps.length === 0 ? sentence : beside);
  if (field === 'step' || field === 'rule')
    return isOneOf(token, sentence.field(field), label) || isOneOf(token, beside.field('rule text'), label);
  if (field !== undefined) {
    const holder = field === 'confidence' && beside.steps.length === 0 ? sentence : beside;
    if (holdsBound(token, label, holder.field(field))) return true;
    if (field === 'member' && isOneOf(token, beside.field('arg'), label)) return true;
    if (field === 'mean_dist_m' && /^\s*km\b/i.test(after))
      return isOneOf(scaled(token, 1000), beside.field(field), label);
    if (label.mayCount && holdsCount(token, 'members', label, after, cited, listed)) return true;
    return beside.rules.length > 0 && isOneOf(token, beside.field('rule text'), label);
  }
  const unit = durationUnit(after);
  if (unit !== undefined) return isDifference(token, unit, sentence) || isMeasured(token, beside, label);
  if (/^\s*km\b/i.test(after) && isOneOf(scaled(token, 1000), beside.field('mean_dist_m'), label)) return true;
  if (token.ordinal) return isOrdinal(token, sentence);
  // "one of them", "one another" and "one event" claim nothing, but "one member" is a count.
  if (token.word && token.readings[0]!.value === 1 && (countedBy(after) !== 'members' || /^\s+of\b/.test(after)))
    return true;
  const counted = text.slice(token.start, token.end).toLowerCase() === 'twice' ? 'edges' : countedBy(after);
  if (counted === 'members' || counted === 'edges' || counted === 'facts')
    return holdsCount(token, counted, label, after, cited, listed);
  if (isOneOf(token, beside.all(), label)) return true;
  if (isDay(token, beside, text)) return true;
  return (token.word || counted === 'thing') && holdsCount(token, 'thing', label, after, cited, listed);
}

function scaled(token: NumberToken, factor: number): NumberToken {
  return {
    ...token,
    readings: token.readings.map(({ value, half }) => ({
      value: value * factor,
      half: Math.max(half * factor, factor > 1 ? 0 : 0.5 * factor),
    })),
  };
}

export function isOneOf(
  token: NumberToken,
  values: Float64Array,
  label: Pick<Label, 'approximate'> = { approximate: false },
): boolean {
  return token.readings.some(({ value, half }) => {
    const rounding = half > 0 ? half : label.approximate || Math.abs(value) >= 10 ? 0.5 : 0;
    // The stored value must round to the stated one, halves away from zero.
    const error = half > 0 ? Math.abs(value) * 1e-12 : 0;
    const near = value < 0 ? rounding - 1e-9 * rounding - error : rounding + error;
    const far = value < 0 ? rounding + error : rounding - 1e-9 * rounding - error;
    return hasBetween(values, value - Math.max(near, error), value + Math.max(far, error));
  });
}

/**
 * `weight above 0.3`: all values of the field must be. Without such a bound, the number must be one
 * of them.
 */
function holdsBound(token: NumberToken, label: Label, values: Float64Array): boolean {
  const { value } = token.readings[0] ?? { value: Number.NaN };
  if (values.length === 0) return false;
  const least = values[0]!;
  const most = values[values.length - 1]!;
  if (label.field === 'member' || label.field === 'id') return isOneOf(token, values, label);
  if (label.bound === 'since') return least >= value;
  if (label.bound === 'after') return least > value;
  if (label.bound === 'before') return most < value;
  if (label.bound === 'until') return most <= value;
  return isOneOf(token, values, label);
}

function agreesAsPercent(token: NumberToken, label: Label, values: Values): boolean {
  const shares = token.readings.map(({ value, half }) => ({ value: value / 100, half: Math.max(half, 0.5) / 100 }));
  const share = { ...token, readings: shares };
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

/** A duration may also be a stored value: of a column, a weight, or seconds since 1970. */
function isMeasured(token: NumberToken, values: Values, label: Label): boolean {
  return isInFields(token, ['event_ts', 'weight', 'rule text', ...values.columns()], values, label);
}

function isInFields(token: NumberToken, fields: readonly string[], values: Values, label: Label): boolean {
  return fields.some((name) => isOneOf(token, values.field(name), label));
}

/** `10 minutes later`: two of the cited events are that far apart. */
function isDifference(token: NumberToken, unit: number, values: Values): boolean {
  const times = [...new Set(values.edges.map((edge) => edge.event_ts))].sort((a, b) => a - b);
  const slack = unit === 1 ? 0 : unit / 2;
  const near = (from: number, to: number) =>
    token.readings.some(({ value }) => Math.abs(to - from - value * unit) <= slack);
  if (times.length < 2) return false;
  if (times.length > 60)
    return near(times[0]!, times.at(-1)!) || times.some((time, index) => index > 0 && near(times[index - 1]!, time));
  return times.some((from, index) => times.slice(index + 1).some((to) => near(from, to)));
}

function isOrdinal(token: NumberToken, values: Values): boolean {
  const { value } = token.readings[0]!;
  const most = Math.max(values.edges.length, values.steps.length, ...values.edges.map((edge) => edge.members.length));
  return value <= most || isDayOfMonth(value, values);
}

/** `day 14`. */
function isDay(token: NumberToken, values: Values, text: string): boolean {
  if (!/\b(?:day|tag|jour|día)\s*$/i.test(text.slice(Math.max(0, token.start - 6), token.start))) return false;
  return isDayOfMonth(token.readings[0]?.value, values);
}

function isDayOfMonth(day: number | undefined, { edges }: Values): boolean {
  return edges.some((edge) => new Date(edge.event_ts * 1000).getUTCDate() === day);
}

function holdsCount(
  token: NumberToken,
  counted: Exclude<Counted, undefined>,
  label: Label,
  after: string,
  cited: Cited,
  listed: ReadonlySet<number>,
): boolean {
  const { value } = token.readings[0] ?? { value: Number.NaN };
  const counts = countsOf(counted, cited, token.word || counted === 'members' ? listed : new Set());
  const most = Math.max(...counts);
  if (/^[\s*_]*(?:of|other|others|more|further|additional|remaining|weitere)\b/i.test(after))
    return value >= 1 && value <= most;
  if (label.bound === 'since') return most >= value;
  if (label.bound === 'after') return most > value;
  if (label.bound === 'before') return Math.min(...counts) < value;
  return counts.includes(value) || (label.bound === 'until' && Math.min(...counts) <= value);
}

function countsOf(
  counted: Exclude<Counted, undefined>,
  { beside, sentence }: Cited,
  listed: ReadonlySet<number>,
): number[] {
  const counts: number[] = [];
  if (counted !== 'members') {
    if (counted !== 'facts')
      counts.push(beside.citedEdges, sentence.citedEdges, beside.edges.length, sentence.edges.length);
    if (counted !== 'edges')
      counts.push(beside.steps.length, sentence.steps.length, beside.rules.length, sentence.rules.length);
  }
  if (counted === 'members' || counted === 'thing') {
    counts.push(...beside.memberCounts(), ...sentence.memberCounts());
    const members = sentence.field('member');
    const named = [...listed].filter((value) => hasBetween(members, value, value)).length;
    if (named > 1) counts.push(named);
  }
  return counts.filter((count) => count > 0);
}
