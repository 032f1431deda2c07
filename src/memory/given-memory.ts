// Checks what a caller says about a memory before anything is written.

import { type FieldError, refusal } from '../errors.ts';
import { ruleOf } from '../model/column-types.ts';
import { invalidFields } from '../model/fields.ts';
import { ABOUT, SOURCE, THING_TABLE, WHAT, WHO } from '../model/memories.ts';
import { keyProblem } from '../model/node-refs.ts';

/** The parts of a memory that are texts. */
export interface GivenTexts {
  readonly what?: string | undefined;
  readonly source?: string | undefined;
  /** Keys of the things that say or do it. */
  readonly who?: readonly string[] | undefined;
  /** Keys of the things that it is about. */
  readonly about?: readonly string[] | undefined;
}

const KEYS = { name: THING_TABLE, isInteger: false };
const MOST_ERRORS = 20;

/** Throws `invalid_input` if a text is too long or a key is none; the error lists every field. */
export function checkTexts(given: GivenTexts): void {
  const errors: FieldError[] = [];
  const { problem } = ruleOf('TEXT');
  for (const name of [WHAT, SOURCE] as const) {
    const msg = given[name] === undefined ? undefined : problem(given[name]);
    if (msg !== undefined) errors.push({ loc: ['body', name], msg });
  }
  if (given.what?.trim() === '') errors.push({ loc: ['body', WHAT], msg: 'must not be empty' });
  for (const role of [WHO, ABOUT] as const) {
    for (const [index, key] of (given[role] ?? []).entries()) {
      const msg = keyProblem(key, KEYS);
      if (msg !== undefined && errors.length < MOST_ERRORS) errors.push({ loc: ['body', role, index], msg });
    }
  }
  if (errors.length > 0) throw invalidFields(errors);
}

/** Throws `empty_members` if nothing is named: an edge has at least one member. */
export function assertNamesThings(who: readonly string[], about: readonly string[]): void {
  if (who.length + about.length > 0) return;
  const msg = 'is empty, and about too; give at least one of them';
  throw refusal('empty_members', 'A memory names at least one thing: give who, about, or both.', {
    errors: [{ loc: ['body', WHO], msg }],
  });
}
