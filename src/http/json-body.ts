// Reads JSON from a whole body. Where a JSON object is required, any other value is refused.

import { isUtf8 } from 'node:buffer';
import { type HedgerowError, refusal } from '../errors.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { invalidFields, kindOf } from './field-errors.ts';
import { jsonProblem } from './json-depth.ts';
import { JsonPieces, JsonProblem } from './json-pieces.ts';

const NEWLINE = 10;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** Longer bodies are parsed in steps, before the handler runs. */
export const LONG_JSON_BYTES = 512 * 1024;

/** A whole body, and its value if it has already been parsed. */
export interface JsonBody {
  readonly body: Buffer;
  readonly parsed: { readonly value: unknown } | undefined;
}

/** Returns the JSON value of a whole body. Throws `invalid_json`. */
export function parseJsonBody({ body, parsed }: JsonBody): unknown {
  if (parsed !== undefined) return parsed.value;
  const start = requireText(body);
  const problem = jsonProblem(body);
  if (problem !== undefined) throw invalidJson(`The body ${problem}.`);
  try {
    return JSON.parse(body.toString('utf8', start));
  } catch (error) {
    throw invalidJson(`The body is not valid JSON: ${(error as Error).message}.`);
  }
}

/**
 * Parses like `parseJsonBody`, but in steps between which other work runs. Stops and resolves to
 * undefined when `isGone` returns true, because nobody waits for the value any more.
 */
export async function parseLongJson(
  body: Buffer,
  slices: Scheduler,
  isGone: () => boolean,
): Promise<{ value: unknown } | undefined> {
  const pieces = new JsonPieces(body, requireText(body));
  try {
    await slices.run('body', () => !isGone() && pieces.step());
    return isGone() ? undefined : { value: pieces.value() };
  } catch (error) {
    throw error instanceof JsonProblem ? invalidJson(`The body ${error.message}.`) : error;
  }
}

/**
 * Returns the offset at which the text begins. Throws `invalid_json` if the text is empty or not
 * UTF-8.
 */
function requireText(body: Buffer): number {
  const start = textStart(body);
  if (body.length === start) throw invalidJson('The body is empty; send JSON.');
  // Text that is not UTF-8 would otherwise be stored with replacement characters.
  if (!isUtf8(body)) throw notUtf8(lineNotUtf8(body));
  return start;
}

/**
 * Returns the offset at which the text of a body begins: after the byte order mark, if there is
 * one.
 */
export function textStart(body: Buffer): number {
  return BYTE_ORDER_MARK.every((byte, at) => body[at] === byte) ? BYTE_ORDER_MARK.length : 0;
}

function notUtf8(line: number): HedgerowError {
  const detail = `The body is not valid UTF-8: the first wrong byte is in line ${line}.`;
  return refusal('invalid_json', detail, { errors: [{ loc: ['body'], msg: detail }], fields: { line } });
}

/** Ranges of at most this many bytes are searched line by line. */
const FEW_BYTES = 256;

/**
 * Returns the line (from 1) of the first byte that is not UTF-8, in a body that has such a byte.
 * The line is found by bisection, since a body may have many lines.
 */
function lineNotUtf8(body: Buffer): number {
  let start = 0;
  let end = body.length;
  while (end - start > FEW_BYTES) {
    const middle = characterStart(body, (start + end) >>> 1);
    if (isUtf8(body.subarray(start, middle))) start = middle;
    else end = middle;
  }
  // No multi-byte character of UTF-8 contains a newline byte, so lines can be checked one by one.
  for (let newline = body.indexOf(NEWLINE, start); newline >= 0; newline = body.indexOf(NEWLINE, start)) {
    if (!isUtf8(body.subarray(start, newline))) break;
    start = newline + 1;
  }
  let line = 1;
  for (let at = 0; at < start; at++) if (body[at] === NEWLINE) line++;
  return line;
}

/**
 * Returns the offset of the character that contains the byte at `at`; looks back at most three
 * bytes.
 */
function characterStart(body: Buffer, at: number): number {
  let start = at;
  while (start > at - 3 && (body[start]! & 0xc0) === 0x80) start--;
  return start;
}

/** Returns the JSON object of a whole body. Throws `invalid_json` or `invalid_input`. */
export function parseJsonObject(body: JsonBody): Record<string, unknown> {
  return requireObject(parseJsonBody(body), ['body']);
}

export function requireObject(value: unknown, loc: (string | number)[]): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalidFields([{ loc, msg: `must be a JSON object, not ${kindOf(value)}` }]);
}

function invalidJson(detail: string): HedgerowError {
  return refusal('invalid_json', detail, { errors: [{ loc: ['body'], msg: detail }] });
}
