// Returns the node in one line of a batch: the key and the attributes by column.

import { isUtf8 } from 'node:buffer';
import type { PropertyValue } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { requireObject } from '../../../http/json-body.ts';
import { isBlank, parseLine } from '../../../routes/bulk-insert.ts';
import { type LineBatch, startOf } from '../line-batches.ts';

/**
 * Returns null for a blank line. Throws a HedgerowError that describes the fault. Names and values
 * are left for the target to check.
 */
export function nodeOfLine(batch: LineBatch, index: number): Record<string, PropertyValue | undefined> | null {
  const fault = batch.faults?.get(index);
  if (fault !== undefined) throw new HedgerowError('invalid_input', fault);
  const made = batch.items?.[index];
  if (made !== undefined) return made as Record<string, PropertyValue>;
  if (batch.tooLong) throw new HedgerowError('body_too_large', 'The line is too long to be kept in memory.');
  const piece = batch.bytes.subarray(startOf(batch, index), batch.ends[index]!);
  if (!isUtf8(piece)) throw new HedgerowError('invalid_json', 'The line is not valid UTF-8.');
  const text = piece.toString('utf8');
  if (isBlank(text)) return null;
  return requireObject(parseLine(text), ['body']) as Record<string, PropertyValue>;
}
