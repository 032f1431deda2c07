// Mutates texts and JSON values in ways that find bugs in parsers: inserts dictionary tokens,
// splices, duplicates and cuts ranges, and uses odd numbers and characters.

import type { Random } from '../../core/support/random.ts';

const NUMBERS = [
  '0',
  '-1',
  '1.5',
  '1e308',
  '1e-320',
  '9007199254740991',
  '9007199254740993',
  '99999999999999999999',
  '0x1',
];
const CHARACTERS = [
  '\0',
  '\n',
  '\\',
  '"',
  "'",
  '`',
  '$',
  '\u00e9',
  '\u2028',
  '\ud83d',
  '\u{1f600}',
  '%',
  '/',
  '{',
  '}',
  '[',
];
const VALUES: readonly unknown[] = [
  null,
  true,
  '',
  'x',
  '?X',
  -1,
  0.5,
  2 ** 53,
  [],
  {},
  'a'.repeat(300),
  '__proto__',
  '\ud83d',
];
/** Longer texts find nothing new and take longer. */
const MOST_CHARACTERS = 4000;

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random.below(list.length)]!;
}

export function mutateText(
  random: Random,
  source: string,
  dictionary: readonly string[],
  others: readonly string[],
): string {
  let text = source;
  for (let changes = 1 + random.below(4); changes > 0; changes--) text = changeText(random, text, dictionary, others);
  return text.slice(0, MOST_CHARACTERS);
}

function changeText(random: Random, text: string, dictionary: readonly string[], others: readonly string[]): string {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(20));
  switch (random.below(8)) {
    case 0:
      return text.slice(0, at) + text.slice(end);
    case 1:
      return text.slice(0, end) + text.slice(at);
    case 2:
      return `${text.slice(0, at)} ${pick(random, dictionary)} ${text.slice(at)}`;
    case 3:
      return text.slice(0, at) + pick(random, dictionary) + text.slice(end);
    case 4: {
      const other = pick(random, others);
      return text.slice(0, at) + other.slice(random.below(other.length + 1));
    }
    case 5:
      return text.slice(0, at) + pick(random, CHARACTERS) + text.slice(at + random.below(2));
    case 6:
      return text.slice(0, at) + text.slice(at).replace(/\d+/, pick(random, NUMBERS));
    default:
      return (
        text.slice(0, at) + String.fromCharCode(random.below(random.below(4) === 0 ? 65_536 : 128)) + text.slice(at + 1)
      );
  }
}

/** Returns a mutated copy of a JSON value. `others` supply subtrees and keys. */
export function mutateJson(random: Random, source: unknown, others: readonly unknown[]): unknown {
  let value = structuredClone(source);
  for (let changes = 1 + random.below(3); changes > 0; changes--) value = changeJson(random, value, others);
  return value;
}

function changeJson(random: Random, value: unknown, others: readonly unknown[]): unknown {
  const places = placesOf(value);
  if (places.length === 0) return pick(random, VALUES);
  const { holder, key } = pick(random, places);
  switch (random.below(6)) {
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1);
      else delete holder[key];
      return value;
    case 1:
      set(holder, key, pick(random, VALUES));
      return value;
    case 2: {
      const donors = placesOf(pick(random, others));
      const donor = donors.length === 0 ? undefined : pick(random, donors);
      set(holder, key, structuredClone(donor?.holder[donor.key]));
      return value;
    }
    case 3:
      if (Array.isArray(holder)) holder.push(structuredClone(pick(random, holder)));
      else set(holder, pick(random, ['__proto__', 'constructor', 'x', key.toUpperCase()]), holder[key]);
      return value;
    case 4:
      if (typeof holder[key] === 'string')
        set(holder, key, changeText(random, holder[key], ['?X', 'rule:', '..', '%'], ['a']));
      return value;
    default:
      if (typeof holder[key] === 'number') set(holder, key, Number(pick(random, NUMBERS)));
      return value;
  }
}

type Holder = Record<string, unknown>;

/** Sets a field, even one named `__proto__`, which JSON.parse can create too. */
function set(holder: Holder, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function placesOf(value: unknown, places: { holder: Holder; key: string }[] = []): { holder: Holder; key: string }[] {
  if (typeof value !== 'object' || value === null) return places;
  for (const key of Object.keys(value)) {
    const holder = value as Holder;
    places.push({ holder, key });
    placesOf(holder[key], places);
  }
  return places;
}
