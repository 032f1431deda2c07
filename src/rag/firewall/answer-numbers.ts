// Finds the numbers of a sentence: digits in the usual groupings, percentages, numerals.

import { MINUS_BEFORE, numeralsIn, SCALE_AFTER, scaleOf } from './numerals.ts';

export interface NumberToken {
  start: number;
  end: number;
  /** The possible values: `1,234` is 1234 or 1.234. `half`: half a unit of the last digit. */
  readings: { value: number; half: number }[];
  /** The numbers of a list without spaces: `3,9,14`. */
  parts: NumberToken[];
  percent: boolean;
  /** Written as a word: `two`, `twice`. */
  word: boolean;
  ordinal: boolean;
}

const DIGITS =
  /(?<![\p{L}\p{N}.])\.\d+|\d{1,3}(?: \d{3})+(?![\d.,])|\d+(?:[.,_']\d+)*(?:e[-+]?\d{1,3}(?![\p{L}\d]))?/giu;
const PERCENT = /\s*(?:%|per ?cent\b|prozent\b|pour cent\b|por ?ciento\b|процент|パーセント|в процентах)/iuy;
/** The numbers of `text` (folded, with tags and times masked), in order. */
export function numbersOf(text: string): NumberToken[] {
  const tokens: NumberToken[] = [];
  for (const match of text.matchAll(DIGITS)) tokens.push(...digitTokens(text, match.index, match[0]));
  for (const { start, end, value, isOrdinal: ordinal, isRoman } of numeralsIn(text)) {
    if (tokens.some((token) => token.start < end && start < token.end)) continue; // part of "2.5 million"
    PERCENT.lastIndex = end;
    const percent = PERCENT.test(text);
    tokens.push({ start, end, readings: [{ value, half: 0 }], parts: [], percent, word: !isRoman, ordinal });
  }
  return tokens.sort((a, b) => a.start - b.start);
}

function digitTokens(text: string, start: number, raw: string): NumberToken[] {
  const end = start + raw.length;
  if (text[end] === '\u20e3') return []; // the number of a list item
  const negative =
    (text[start - 1] === '-' && !/[\p{L}\p{N})\].]/u.test(text[start - 2] ?? ' ')) ||
    MINUS_BEFORE.test(text.slice(Math.max(0, start - 10), start));
  const suffix = /(?:(k)(?=m?\b)|(st|nd|rd|th)\b)?/iy;
  suffix.lastIndex = end;
  const after = suffix.exec(text);
  PERCENT.lastIndex = end;
  SCALE_AFTER.lastIndex = end;
  const scale = SCALE_AFTER.exec(text);
  const factor = scale === null ? 1 : scaleOf(scale[1]!);
  const token: NumberToken = {
    start,
    end: scale === null ? end : SCALE_AFTER.lastIndex,
    readings: [],
    parts: [],
    percent: PERCENT.test(text),
    word: false,
    ordinal: after?.[2] !== undefined,
  };
  for (const plain of readingsOf(raw)) {
    const value = (negative ? -1 : 1) * Number(plain) * factor;
    const half = halfUnit(plain) * factor;
    token.readings.push({ value, half });
    if (after?.[1] !== undefined) token.readings.push({ value: value * 1000, half: half * 1000 || 500 });
  }
  if (/[ ,]/.test(raw)) token.parts = partsOf(text, start, raw);
  return [token];
}

function partsOf(text: string, start: number, raw: string): NumberToken[] {
  let at = start;
  return raw.split(/[ ,]/).flatMap((part) => {
    const from = at;
    at += part.length + 1;
    return digitTokens(text.slice(0, from + part.length), from, part);
  });
}

/** The numbers, in JavaScript notation, that a run of digits and separators may mean. */
function readingsOf(raw: string): string[] {
  if (/^\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(raw)) {
    return /^\d{1,3}\.\d{3}$/.test(raw) ? [raw, raw.replace('.', '')] : [raw];
  }
  if (raw.startsWith('.')) return [`0${raw}`];
  const readings: string[] = [];
  for (const group of [',', '.', '_', "'", ' ']) {
    const point = group === '.' ? ',' : '.';
    const parts = raw.split(point);
    if (parts.length > 2 || (parts.length === 2 && !/^\d+$/.test(parts[1]!))) continue;
    const groups = parts[0]!.split(group);
    const whole =
      groups.length === 1 || (/^\d{1,3}$/.test(groups[0]!) && groups.slice(1).every((part) => /^\d{3}$/.test(part)));
    if (whole && groups.every((part) => /^\d+$/.test(part)))
      readings.push(groups.join('') + (parts.length === 2 ? `.${parts[1]}` : ''));
  }
  return [...new Set(readings)];
}

/** Half a unit of the last decimal; 0 for a whole number, which is not rounded. */
function halfUnit(plain: string): number {
  const match = /^\d+(?:\.(\d+))?(?:e([-+]?\d+))?$/i.exec(plain)!;
  if (match[1] === undefined && match[2] === undefined) return 0;
  return 0.5 * 10 ** (Number(match[2] ?? 0) - (match[1]?.length ?? 0));
}
