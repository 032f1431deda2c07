// The schemas with which routes describe their input and output, and the check that turns the
// issues of the schema library into errors of Hedgerow.

import type { FieldError } from '../errors.ts';
import { isoSeconds } from '../iso-time.ts';
import { IDENTIFIER } from '../model/columns.ts';
import { timeMessage } from '../model/edge.ts';
import { v } from '../valibot.ts';
import { invalidFields } from './field-errors.ts';
import { parseInteger } from './integers.ts';

export { timeMessage, v };
export type GenericSchema = v.GenericSchema;
export type InferOutput<S extends v.GenericSchema> = v.InferOutput<S>;
export type InferInput<S extends v.GenericSchema> = v.InferInput<S>;

const INTEGER_MESSAGE = 'must be an integer of at most 2^53-1';

/** A JSON number that is a safe integer. */
export const integer = () => v.pipe(v.number(INTEGER_MESSAGE), v.safeInteger(INTEGER_MESSAGE));
export const integerFrom = (least: number) =>
  v.pipe(integer(), v.minValue(least, `must be an integer of at least ${least}`));
export const integerWithin = (least: number, most: number) => {
  const range = `must be an integer from ${least} to ${most}`;
  return v.pipe(v.number(range), v.safeInteger(range), v.minValue(least, range), v.maxValue(most, range));
};
export const finite = () => v.pipe(v.number('must be a number'), v.finite('must be a finite number'));
export const text = () => v.string('must be a string');
export const tableName = () => text();
/** Epoch seconds, or a time in ISO 8601; `secondsOf` converts a checked value to seconds. */
export const time = () =>
  v.union(
    [
      integer(),
      v.pipe(
        v.string(),
        v.check(
          (text) => isoSeconds(text) !== undefined,
          ({ input }) => timeMessage(input),
        ),
      ),
    ],
    ({ input }) => timeMessage(input),
  );
/** Returns the seconds of a value that `time` accepted. */
export const secondsOf = (value: number | string): number => (typeof value === 'number' ? value : isoSeconds(value)!);
/**
 * Marks a time in an answer: seconds, or a string with `times=iso`. The API description mentions
 * both; the types of the client contain only the number.
 */
export const ISO_TOO = v.metadata<number, { readonly isoToo: true }>({ isoToo: true });
export const answeredTime = () => v.pipe(v.number(), v.integer(), ISO_TOO);
/** An answer of bytes; the API description takes over the `format`. */
export const bytes = () => v.pipe(v.string(), v.metadata({ format: 'binary' }));
/** How answers write times. */
export const times = () =>
  v.optional(
    described(
      v.picklist(['epoch', 'iso'], 'must be epoch or iso'),
      'How the times of edges are written: `epoch` (default) as seconds, `iso` as texts such as 2024-05-02T10:00:00Z.',
    ),
  );
export const members = () =>
  v.optional(
    described(
      v.picklist(['numbers', 'objects'], 'must be numbers or objects'),
      'How members that are nodes of node tables are written: `numbers` as their internal numbers, `objects` always as objects with `kind` and `key`. By default as keys, or as objects if the members of the table are of several kinds.',
    ),
  );

/** A new name for a table or column. */
export const identifier = () =>
  v.pipe(
    text(),
    v.regex(IDENTIFIER, 'must start with a letter or _ and hold only letters, digits and _, at most 64 characters'),
  );
/**
 * Converts a text to an integer. The API description recognises this transform by identity and
 * describes an integer.
 */
export const toInteger = v.transform((value: string) => parseInteger(value));
/** An integer written in a query string or path. */
export const integerText = () => v.pipe(v.string(INTEGER_MESSAGE), toInteger, v.safeInteger(INTEGER_MESSAGE));

/** The same schema with a sentence for the API description. */
export const described = <S extends v.GenericSchema>(schema: S, sentence: string) =>
  v.pipe(schema, v.description(sentence));
/** The same schema as a named component of the API description. */
export const titled = <S extends v.GenericSchema>(schema: S, name: string) => v.pipe(schema, v.title(name));

/** Returns the checked value. Throws `invalid_input` with the place of every issue. */
export function check<S extends v.GenericSchema>(schema: S, value: unknown, place: string): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw invalidFields(result.issues.map((issue) => fieldError(issue, place)));
}

function fieldError(issue: v.BaseIssue<unknown>, place: string): FieldError {
  const keys = (issue.path ?? []).map((item) => item.key as string | number);
  const missing = issue.input === undefined && keys.length > 0;
  return { loc: [place, ...keys], msg: missing ? 'is missing' : issue.message };
}
