// Reads the fields of a spec one by one. Records every fault with its place.

import { type FieldError, type HedgerowError, refusal, type SettingKey } from '../../errors.ts';
import { IDENTIFIER } from '../../model/columns.ts';
import { isWellFormed } from '../../model/text.ts';
import { hint, shown } from '../identifiers.ts';

export type Place = readonly (string | number)[];
export type Fields = Readonly<Record<string, unknown>>;

/** Maximum length of the name of a graph, table, column or role, in characters. */
export const MAX_NAME = 256;
/** The form of labels and member names. */
export const LABEL_FORM = { pattern: IDENTIFIER, form: 'a letter or _, then letters, digits or _, at most 64' };

/** Collects the first `MOST_ERRORS` faults, each with its place. */
export class Faults {
  readonly errors: FieldError[] = [];
  /** The settings of the service that are related to the faults. */
  readonly #settings = new Set<SettingKey>();

  /** Adds a fault. `msg` continues a sentence that begins with the place: "must be ...". */
  add(place: Place, msg: string, setting?: SettingKey): void {
    if (this.errors.length < MOST_ERRORS) this.errors.push({ loc: [...place], msg });
    if (setting !== undefined) this.#settings.add(setting);
  }

  /** Returns an error that gives the first faults in its message and all of them in `errors`. */
  error(): HedgerowError {
    const sentences = this.errors.slice(0, MOST_NAMED).map(({ loc, msg }) => `${nameOf(loc)} ${msg}`);
    const rest = this.errors.length > MOST_NAMED ? ` (and ${this.errors.length - MOST_NAMED} more)` : '';
    return refusal('invalid_input', `${sentences.join('; ')}${rest}.`, {
      errors: [...this.errors],
      ...(this.#settings.size > 0 && { fields: { settings: [...this.#settings] } }),
    });
  }

  get any(): boolean {
    return this.errors.length > 0;
  }
}

const MOST_ERRORS = 50;
const MOST_NAMED = 5;

/** Writes a place as text: `["body", "edges", 0, "label"]` gives `edges[0].label`. */
function nameOf([, ...inner]: Place): string {
  if (inner.length === 0) return 'The spec';
  return inner.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('');
}

/** Returns the value if it is an object; otherwise records a fault and returns undefined. */
export function objectAt(value: unknown, place: Place, faults: Faults): Fields | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  faults.add(place, `must be an object, not ${kindOf(value)}`);
  return undefined;
}

/** Returns a list of 1 to `most` items; otherwise records a fault and returns an empty list. */
export function listAt(value: unknown, place: Place, faults: Faults, most: number): readonly unknown[] {
  if (!Array.isArray(value)) {
    faults.add(place, `must be an array, not ${kindOf(value)}`);
  } else if (value.length === 0 || value.length > most) {
    faults.add(place, value.length === 0 ? 'must not be empty' : `has ${value.length} items, more than ${most}`);
  } else {
    return value;
  }
  return [];
}

/** Returns a text of 1 to `most` characters; otherwise records a fault and returns undefined. */
export function textAt(value: unknown, place: Place, faults: Faults, most: number): string | undefined {
  const wrong = wrongText(value, most);
  if (wrong === undefined) return value as string;
  faults.add(place, wrong);
  return undefined;
}

function wrongText(value: unknown, most: number): string | undefined {
  if (typeof value !== 'string') return value === undefined ? 'is missing' : `must be a text, not ${kindOf(value)}`;
  if (value === '') return 'must not be empty';
  if (value.length > most) return `has ${value.length} characters, more than ${most}`;
  if (value.includes('\0')) return 'holds the character NUL, which no name has';
  return isWellFormed(value) ? undefined : 'is not valid Unicode: it holds half of a surrogate pair';
}

/**
 * Returns a text that matches `pattern`; otherwise records a fault and returns undefined. `form`
 * describes the pattern in words.
 */
export function nameAt(
  value: unknown,
  place: Place,
  faults: Faults,
  { pattern, form }: { pattern: RegExp; form: string },
): string | undefined {
  const text = textAt(value, place, faults, MAX_NAME);
  if (text === undefined || pattern.test(text)) return text;
  faults.add(place, `is ${shown(text)}, but must be ${form}`);
  return undefined;
}

/** Returns one of the known texts; otherwise records a fault and returns undefined. */
export function choiceAt<T extends string>(
  value: unknown,
  place: Place,
  faults: Faults,
  { known, what }: { known: readonly T[]; what: string },
): T | undefined {
  const text = textAt(value, place, faults, MAX_NAME);
  if (text === undefined || (known as readonly string[]).includes(text)) return text as T | undefined;
  faults.add(place, `is ${shown(text)}, which is not a ${what}; there are ${known.join(', ')}${hint(text, known)}`);
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
