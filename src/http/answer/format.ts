// The formats of answers with rows, and the choice of the format that a request asks for.

import { JSON_TYPE, NDJSON_TYPE } from '../media.ts';

/** Media types by format. The first format is used for requests that ask for none of them. */
const TYPES = { json: JSON_TYPE, ndjson: NDJSON_TYPE } as const;

export type AnswerFormat = keyof typeof TYPES;

const FORMATS = Object.keys(TYPES) as AnswerFormat[];

export function typeOf(format: AnswerFormat): string {
  return TYPES[format];
}

/** Returns the format that `Accept` names first. */
export function formatOf(accept: string): AnswerFormat {
  let format: AnswerFormat = 'json';
  if (accept === '' || accept === '*/*') return format;
  const lower = accept.toLowerCase();
  let first = Number.POSITIVE_INFINITY;
  for (const each of FORMATS) {
    const place = lower.indexOf(TYPES[each]);
    if (place < 0 || place >= first) continue;
    first = place;
    format = each;
  }
  return format;
}
