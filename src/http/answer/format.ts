// The formats of answers with rows, and which one a request asks for.

import { JSON_TYPE, NDJSON_TYPE } from '../media.ts';

export interface AnswerFormat {
  readonly mediaType: string;
  /**
   * How rows are written. `json`: the answer is one JSON value that contains them, separated by
   * commas. `ndjson`: each row is a JSON value followed by a newline, and nothing surrounds them.
   */
  readonly rows: 'json' | 'ndjson';
  /**
   * Distinguishes the entity tags of the formats, which share a URL. Empty for the first format,
   * whose tags are numbers, for which response heads are cached as bytes.
   */
  readonly tag: string;
  /** What OpenAPI says about the lines; `name` is that of their schema. */
  readonly describeLines: (name: string) => string;
}

export const JSON_FORMAT: AnswerFormat = { mediaType: JSON_TYPE, rows: 'json', tag: '', describeLines: () => '' };
const NDJSON_FORMAT: AnswerFormat = {
  mediaType: NDJSON_TYPE,
  rows: 'ndjson',
  tag: 'n',
  describeLines: (name) => `One JSON value a line, each a ${name} (#/components/schemas/${name}).`,
};

/** The first format is that of requests that ask for none of them. */
export const FORMATS: readonly AnswerFormat[] = [JSON_FORMAT, NDJSON_FORMAT];

/** The format that `Accept` names first. */
export function formatOf(accept: string): AnswerFormat {
  let format = JSON_FORMAT;
  if (accept === '' || accept === '*/*') return format;
  const lower = accept.toLowerCase();
  let first = Number.POSITIVE_INFINITY;
  for (const each of FORMATS) {
    const place = lower.indexOf(each.mediaType);
    if (place < 0 || place >= first) continue;
    first = place;
    format = each;
  }
  return format;
}
