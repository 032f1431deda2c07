// Reads JSON out of a whole body; everything that is no JSON object where one is due is a 400 that says so.

import { isUtf8 } from 'node:buffer';
import { type HedgerowError, refusal } from '../errors.ts';
import { invalidFields, kindOf } from './field-errors.ts';

/** The JSON value of a whole body; throws invalid_json. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) throw invalidJson('The body is empty; send JSON.');
  requireUtf8(body);
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw invalidJson(`The body is not valid JSON: ${(error as Error).message}.`);
  }
}

/** Text that is not UTF-8 would otherwise be stored with replacement characters. */
export function requireUtf8(body: Buffer): void {
  if (!isUtf8(body)) throw invalidJson('The body is not valid UTF-8.');
}

/** The JSON object of a whole body; throws invalid_json or invalid_input. */
export function parseJsonObject(body: Buffer): Record<string, unknown> {
  return requireObject(parseJsonBody(body), ['body']);
}

export function requireObject(value: unknown, loc: (string | number)[]): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalidFields([{ loc, msg: `must be a JSON object, not ${kindOf(value)}` }]);
}

function invalidJson(detail: string): HedgerowError {
  return refusal('invalid_json', detail, { errors: [{ loc: ['body'], msg: detail }] });
}
