// Reads times by a pattern of strptime (POSIX), the notation of Python, R, Ruby and SQL tools:
// `%d.%m.%y %H:%M`.
//
// Each directive becomes a part of one regular expression. The names of months and days are those
// of month-names.ts, in any of its languages. This is our own code because no maintained library
// does it correctly: d3-time-format reads 30 February as 1 March, and the others use other
// notations.

import { hourOf, isWeekday, monthOf } from './month-names.ts';
import type { TimePattern } from './times.ts';

/** The parts of a text that the directives matched, by the letters of the directives. */
type Said = ReadonlyMap<string, string>;

const WORD = String.raw`\p{L}[\p{L}\p{M}]*\.?`;
const PARTS: Readonly<Record<string, string>> = {
  Y: String.raw`\d{4}`,
  y: String.raw`\d{2}`,
  m: String.raw`\d{1,2}`,
  d: String.raw`\d{1,2}`,
  H: String.raw`\d{1,2}`,
  I: String.raw`\d{1,2}`,
  M: String.raw`\d{1,2}`,
  S: String.raw`\d{1,2}`,
  f: String.raw`\d{1,9}`,
  j: String.raw`\d{1,3}`,
  s: String.raw`[+-]?\d{1,15}`,
  p: String.raw`[ap]\.?m\.?`,
  b: WORD,
  a: WORD,
  z: String.raw`Z|[+-]\d\d(?::?\d\d)?`,
  Z: 'Z|UTC|GMT',
};
const SAME: Readonly<Record<string, string>> = { e: 'd', k: 'H', l: 'I', B: 'b', h: 'b', A: 'a' };
const LONGER: Readonly<Record<string, string>> = { T: '%H:%M:%S', R: '%H:%M', D: '%m/%d/%y', F: '%Y-%m-%d' };

export const STRPTIME_DIRECTIVES = 'Y y m d e b B h a A H I M S f p j s z Z T R D F %';

/** Returns the compiled pattern. Throws an Error that explains what is wrong with the pattern. */
export function strptime(pattern: string): TimePattern {
  const letters: string[] = [];
  let source = '';
  const whole = pattern.replaceAll(/%([TRDF])/g, (_all, letter: string) => LONGER[letter]!);
  for (let at = 0; at < whole.length; at++) {
    const character = whole[at]!;
    if (/\s/.test(character)) {
      if (!source.endsWith(String.raw`\s+`)) source += String.raw`\s+`;
    } else if (character !== '%') source += escaped(character);
    else {
      const given = whole[++at] ?? '';
      if (given === '%') {
        source += '%';
        continue;
      }
      const letter = SAME[given] ?? given;
      const part = Object.hasOwn(PARTS, letter) ? PARTS[letter]! : undefined;
      if (part === undefined) throw new Error(`%${given} is not a directive; there are ${STRPTIME_DIRECTIVES}`);
      if (letters.includes(letter)) throw new Error(`%${given} is there twice`);
      letters.push(letter);
      source += `(${part})`;
    }
  }
  if (!letters.some((letter) => letter === 'Y' || letter === 'y' || letter === 's'))
    throw new Error('it reads no year: %Y has four digits, %y two, %s is seconds since 1970');
  const form = new RegExp(`^${source}$`, 'iu');
  return {
    pattern,
    secondsOf: (text) => {
      const found = form.exec(text);
      if (found === null) return Number.NaN;
      return secondsFrom(new Map(letters.map((letter, index) => [letter, found[index + 1]!])));
    },
  };
}

function escaped(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

/** Returns NaN if the day or hour does not exist. */
function secondsFrom(said: Said): number {
  const number = (letter: string, missing: number) => (said.has(letter) ? Number(said.get(letter)) : missing);
  if (said.has('s')) return number('s', 0);
  if (said.has('a') && !isWeekday(said.get('a')!)) return Number.NaN;
  const month = said.has('b') ? monthOf(said.get('b')!) : number('m', 1);
  const day = number('d', 1);
  const hour = said.has('I') ? hourOf(number('I', 0), /^p/i.test(said.get('p') ?? '')) : number('H', 0);
  const minute = number('M', 0);
  const second = number('S', 0);
  const isClock = hour <= 23 && minute <= 59 && second <= 59;
  if (month === undefined || !isClock) return Number.NaN;
  const date = new Date(0);
  date.setUTCFullYear(yearOf(said), month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return Number.NaN;
  if (said.has('j')) {
    const year = date.getUTCFullYear();
    date.setUTCMonth(0, number('j', 1));
    if (date.getUTCFullYear() !== year) return Number.NaN;
  }
  const fraction = said.has('f') ? Number(`0.${said.get('f')}`) : 0;
  return date.getTime() / 1000 + hour * 3600 + minute * 60 + second + fraction - offsetOf(said.get('z') ?? 'Z');
}

/** Returns the year. As POSIX requires, the two-digit years 69 to 99 are 1969 to 1999. */
function yearOf(said: Said): number {
  const year = said.get('Y');
  if (year !== undefined) return Number(year);
  const short = Number(said.get('y'));
  return short + (short < 69 ? 2000 : 1900);
}

/** Returns the zone's offset in seconds, which is positive east of Greenwich. */
function offsetOf(zone: string): number {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return sign === undefined ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}
