// Recognises whether a question wants a time or a number, and whether a text has one, as systems
// that answer questions do by the type of the expected answer (Li and Roth, Learning Question
// Classifiers, COLING 2002).

import type { Reading } from './words.ts';

export type WantedAnswer = 'time' | 'number';

const COUNTED = new Set(['many', 'much', 'long', 'old', 'often', 'far', 'tall', 'big']);
const TIMES = new Set(['time', 'day', 'date', 'month', 'year']);
const DAYS = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?';
const MONTHS = 'january|february|march|april|may|june|july|august|september|october|november|december';
const UNITS = '(?:day|week|weekend|month|year)s?';
const TIME = new RegExp(
  String.raw`\d|\b(?:yesterday|today|tonight|tomorrow|last|next|ago|${UNITS}|${DAYS}|${MONTHS})\b`,
  'i',
);
const TENS = 'twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety';
const NUMBER = new RegExp(
  String.raw`\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,5}teen|${TENS}|hundreds?|thousands?|millions?|dozens?|once|twice)\b`,
  'i',
);

/** Returns what the first question word that wants a time or a number asks for. */
export function wantedAnswer({ words }: Reading): WantedAnswer | undefined {
  for (const [at, { lower }] of words.entries()) {
    const next = words[at + 1]?.lower ?? '';
    if (lower === 'when' || ((lower === 'what' || lower === 'which') && TIMES.has(next))) return 'time';
    if (lower === 'how' && COUNTED.has(next)) return 'number';
  }
  return undefined;
}

/** Returns whether a text has a time or a number. */
export function hasAnswer(wanted: WantedAnswer, text: string): boolean {
  return (wanted === 'time' ? TIME : NUMBER).test(text);
}
