// The statement and its result, kept while other views are open.

import { signal } from '../preact.ts';
import { timeWindow } from '../state.ts';
import { quoted } from '../statement-words.ts';
import type { Result } from './run-statement.ts';
import { withWindow } from './window-condition.ts';

export const statement = signal('');
export const result = signal<Result | undefined>(undefined);
/** The revision of the data when the statement was last run. */
export const ranAt = signal(0);

/** The statement that the page itself wrote last, and for which table. */
let written = { table: '', text: '' };

/** What is asked of a table before anyone has written anything; a statement of one's own stays as it is. True: it was changed. */
export function writeFirstStatement(table: string): boolean {
  const isOwn = statement.value.trim() !== '' && statement.value !== written.text;
  if (isOwn || table === '' || written.table === table) return false;
  statement.value = withWindow(`MATCH (e:${quoted(table)})\nRETURN *\nLIMIT 200`, timeWindow.value);
  written = { table, text: statement.value };
  return true;
}

/** Holds the statement to the window of time. */
export function holdToWindow(text = statement.value): void {
  const isOwn = text !== written.text;
  statement.value = withWindow(text, timeWindow.value);
  if (!isOwn) written = { ...written, text: statement.value };
}

/** Nothing of one who has signed out stays. */
export function forgetQuery(): void {
  result.value?.close();
  result.value = undefined;
  statement.value = '';
  written = { table: '', text: '' };
}
