// The formats of answers with rows, and the choice of the format that a request asks for.

import { JSON_TYPE, NDJSON_TYPE } from '../media.ts';

export interface AnswerFormat {
  readonly mediaType: string;
  /**
   * How rows are written. `json`: the answer is one JSON value that contains the rows, separated by
   * commas. `ndjson`: each row is a JSON value followed by a newline, and nothing surrounds the
   * rows.
   */
  readonly rows: 'json' | 'ndjson';
  /**
   * A text that makes the entity tags of the formats different, since answers in all formats share
   * a URL. Empty for the first format: its tags are numbers, for which response heads are cached as
   * bytes.
   */
  readonly tag: string;
  /** Returns the description of the lines for OpenAPI; `name` is the name of their schema. */
  readonly describeLines: (name: string) => string;
}

export const JSON_FORMAT: AnswerFormat = { mediaType: JSON_TYPE, rows: 'json', tag: '', describeLines: () => '' };
const NDJSON_FORMAT: AnswerFormat = {
  mediaType: NDJSON_TYPE,
  rows: 'ndjson',
  tag: 'n',
  describeLines: (name) => `One JSON value a line, each a ${name} (#/components/schemas/${name}).`,
};

/** All formats. The first one is used for requests that ask for none of them. */
export const FORMATS: readonly AnswerFormat[] = [JSON_FORMAT, NDJSON_FORMAT];

/** Follows a media type in `Accept` that the client does not take (RFC 9110, section 12.4.2). */
const NOT_WANTED = /^[^,]*;\s*q=0(\.0*)?\s*(?=[,;]|$)/;

/** Returns the format that `Accept` names first, of those that it does not exclude with `q=0`. */
export function formatOf(accept: string): AnswerFormat {
  let format = JSON_FORMAT;
  if (accept === '' || accept === '*/*') return format;
  const lower = accept.toLowerCase();
  let first = Number.POSITIVE_INFINITY;
  for (const each of FORMATS) {
    const place = lower.indexOf(each.mediaType);
    if (place < 0 || place >= first || NOT_WANTED.test(lower.slice(place + each.mediaType.length))) continue;
    first = place;
    format = each;
  }
  return format;
}
