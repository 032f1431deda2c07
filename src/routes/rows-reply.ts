// Answers with the rows of a range or a node.

import type { Table } from '../engine/index.ts';
import { type AnswerFormat, type EntityTag, OPENINGS, type Reply, writeAnswer } from '../http/index.ts';
import type { Call } from './application.ts';
import { OpenRows, type RowsRequest } from './open-rows.ts';
import { tableTag } from './table-tags.ts';

/**
 * The formats of an answer may share a URL, so their tags must differ. The tag of the usual format
 * is a number, for which response heads are cached as bytes.
 */
export function rowsTag(table: Table, format: AnswerFormat, isoTimes: boolean): EntityTag {
  const tag = tableTag(table);
  return format.tag === '' && !isoTimes ? tag : `${tag}${format.tag}${isoTimes ? 'i' : ''}`;
}

/** Only for handlers that have not yielded, and return this at once. */
export function rowsReply(call: Call, request: RowsRequest): Reply | Promise<Reply> {
  // The cursor of a limited NDJSON answer is in a header, before the rows.
  const isCounted = request.format.rows === 'ndjson' && request.limit !== undefined;
  return writeAnswer(call, new OpenRows(call, request), isCounted ? OPENINGS.counted : OPENINGS.rows, true);
}
