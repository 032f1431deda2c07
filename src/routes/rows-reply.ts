// Answers with the rows of a time range or of a node.

import type { Table } from '../engine/index.ts';
import { type AnswerFormat, type EntityTag, OPENINGS, type Reply, writeAnswer } from '../http/index.ts';
import type { Call } from './application.ts';
import type { MemberForm } from './member-form.ts';
import { OpenRows, type RowsRequest } from './open-rows.ts';
import { tableTag } from './table-tags.ts';

/**
 * Returns the entity tag of an answer. Answers in different formats may have the same URL, so their
 * tags must differ. The tag of the usual format is a number, for which response heads are cached as
 * bytes.
 */
export function rowsTag(table: Table, format: AnswerFormat, isoTimes: boolean, members: MemberForm): EntityTag {
  const tag = tableTag(table);
  if (format.tag === '' && !isoTimes && members === 'numbers') return tag;
  return `${tag}${format.tag}${isoTimes ? 'i' : ''}${MEMBERS_TAG[members]}`;
}

const MEMBERS_TAG: Readonly<Record<MemberForm, string>> = { numbers: '', keys: 'k', objects: 'o' };

/**
 * Answers with rows. `atOnce` is true if the handler has not awaited anything and returns this
 * reply at once.
 */
export function rowsReply(call: Call, request: RowsRequest, atOnce: boolean): Reply | Promise<Reply> {
  // The cursor of a limited NDJSON answer is in a header, before the rows.
  const isCounted = request.format.rows === 'ndjson' && request.limit !== undefined;
  return writeAnswer(call, new OpenRows(call, request), isCounted ? OPENINGS.counted : OPENINGS.rows, atOnce);
}
