// Answers with the rows of a time range or of a node.

import type { Table } from '../engine/index.ts';
import { type AnswerFormat, type EntityTag, OPENINGS, type Reply, writeAnswer } from '../http/index.ts';
import type { Call } from './application.ts';
import { OpenRows, type RowsRequest } from './open-rows.ts';
import { tableTag } from './table-tags.ts';

/**
 * Returns the entity tag of an answer. Answers in different formats may have the same URL, so their
 * tags must differ. The tag of the usual format is a number, for which response heads are cached as
 * bytes.
 */
export function rowsTag(table: Table, format: AnswerFormat, isoTimes: boolean): EntityTag {
  const tag = tableTag(table);
  return format.tag === '' && !isoTimes ? tag : `${tag}${format.tag}${isoTimes ? 'i' : ''}`;
}

/**
 * Answers with rows. `atOnce` is true if the handler has not awaited anything and returns this
 * reply at once.
 */
export function rowsReply(call: Call, request: RowsRequest, atOnce: boolean): Reply | Promise<Reply> {
  // The cursor of a limited NDJSON answer is in a header, before the rows.
  const isCounted = request.format.rows === 'ndjson' && request.limit !== undefined;
  return writeAnswer(call, new OpenRows(call, request), isCounted ? OPENINGS.counted : OPENINGS.rows, atOnce);
}
