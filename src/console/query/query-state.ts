// The statements and their results, kept while other views are open.

import { computed, signal } from '../preact.ts';
import { timeWindow } from '../state.ts';
import { quoted } from '../statement-words.ts';
import type { Result } from './run-statement.ts';
import { forgetStatements } from './statement-history.ts';
import { forgetTransaction } from './transaction.ts';
import { withWindow } from './window-condition.ts';

/** What stands in the editor: one statement, or several with semicolons between them. */
export const statement = signal('');
/** One for each statement that has run. */
export const results = signal<readonly Result[]>([]);
/** Which of them is looked at. */
export const chosen = signal(0);
export const result = computed<Result | undefined>(() => results.value[chosen.value]);

/** What is being run; undefined: nothing. */
export interface Running {
  readonly leaving: AbortController;
  /** From 1. */
  readonly at: number;
  readonly count: number;
}
export const running = signal<Running | undefined>(undefined);

/** Why the last run did not come to its end. */
export interface Failed {
  readonly error: unknown;
  /** From 1. */
  readonly at: number;
  readonly count: number;
  /** It may have written something, the failed statement too. */
  readonly hasWritten: boolean;
}
export const failed = signal<Failed | undefined>(undefined);
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

/** More rows of a result were fetched. */
export function putResult(changed: Result): void {
  results.value = results.value.map((item) => (item.startedAt === changed.startedAt ? changed : item));
}

export function forgetResults(): void {
  for (const item of results.value) item.close();
  results.value = [];
  chosen.value = 0;
}

/** Nothing of one who has signed out stays. */
export function forgetQuery(): void {
  running.value?.leaving.abort(new Error('Signed out.'));
  running.value = undefined;
  failed.value = undefined;
  forgetResults();
  forgetTransaction();
  forgetStatements();
  statement.value = '';
  written = { table: '', text: '' };
}
