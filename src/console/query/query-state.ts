// Holds the statements and their results, which are kept while other views are open.

import { storeDraft, storedDraft } from '../drafts.ts';
import { computed, effect, signal } from '../preact.ts';
import { type TimeWindow, tableName, tables, timeWindow } from '../state.ts';
import { patternsOf, quoted } from '../statement-words.ts';
import type { Result } from './run-statement.ts';
import { forgetStatements, pastStatements } from './statement-history.ts';
import { forgetTransaction } from './transaction.ts';
import { windowOf, withWindow } from './window-condition.ts';

/** The text in the editor: one statement, or several separated by semicolons. */
export const statement = signal(storedDraft('statement'));

/** The results of the statements of the last run, in order. */
export const results = signal<readonly Result[]>([]);
/** Index of the result that is shown. */
export const chosen = signal(0);
export const result = computed<Result | undefined>(() => results.value[chosen.value]);

/** The statement that is running; undefined when none is. */
export interface Running {
  readonly leaving: AbortController;
  /** 1-based number of the statement. */
  readonly at: number;
  readonly count: number;
}
export const running = signal<Running | undefined>(undefined);

/** Why the last run did not complete. */
export interface Failed {
  readonly error: unknown;
  /** 1-based number of the statement that failed. */
  readonly at: number;
  readonly count: number;
  /** True when the run may have written something, possibly by the statement that failed. */
  readonly hasWritten: boolean;
}
export const failed = signal<Failed | undefined>(undefined);
/** Statements that wait for the user's confirmation, and what they would destroy. */
export interface Asked {
  readonly text: string;
  readonly losses: readonly string[];
}
export const asked = signal<Asked | undefined>(undefined);
/** The revision of the data when the statement was last run. */
export const ranAt = signal(0);

/** The last statement that the page wrote by itself, and the table it is for. */
let written = { table: '', text: '' };

function isOwn(): boolean {
  return statement.value.trim() !== '' && statement.value !== written.text;
}

effect(() => storeDraft('statement', isOwn() ? statement.value : ''));

/** True when a draft from before the reload has not been handled yet. */
let isRestored = isOwn();

/**
 * Returns, once after a reload with a draft, whether the draft had been run, so that its rows can
 * be shown again.
 */
export function takeRestored(): 'was run' | 'was not run' | undefined {
  if (!isRestored) return undefined;
  isRestored = false;
  return pastStatements.value.at(-1) === statement.value ? 'was run' : 'was not run';
}

/**
 * Writes a statement about the table as long as the user has not written one. Returns true when the
 * text was changed.
 */
export function writeFirstStatement(table: string): boolean {
  if (isOwn() || table === '' || written.table === table) return false;
  const text = withWindow(`MATCH (e:${quoted(table)})\nRETURN *\nLIMIT 200`, timeWindow.value);
  written = { table, text };
  statement.value = text;
  return true;
}

/** Restricts the statement to the window of time. Returns true when the text was changed. */
export function holdToWindow(text = statement.value): boolean {
  return rewriteStatement(withWindow(text, timeWindow.value), text);
}

/**
 * Puts `changed` in the place of `text`, which stays a statement of the page if it was one. Returns
 * true when the text was changed.
 */
export function rewriteStatement(changed: string, text = statement.value): boolean {
  if (text === written.text) written = { ...written, text: changed };
  const isChanged = changed !== statement.value;
  statement.value = changed;
  return isChanged;
}

/** The window of time at the last call of `windowHasMoved` or `followStatement`. */
let seenWindow: TimeWindow | undefined;

/** Returns true when the window of time differs from `seenWindow`, and stores it there. */
export function windowHasMoved(): boolean {
  const before = seenWindow;
  seenWindow = timeWindow.value;
  return !isSame(before, seenWindow);
}

function isSame(one: TimeWindow | undefined, other: TimeWindow | undefined): boolean {
  return one?.start === other?.start && one?.end === other?.end;
}

/**
 * Returns the table of the first pattern of a text; undefined when there is no pattern or no such
 * table.
 */
function tableOf(text: string): string | undefined {
  const wanted = patternsOf(text)[0]?.table.toLowerCase();
  return tables.value.find(({ name }) => name.toLowerCase() === wanted)?.name;
}

/** Returns true when the statement queries the chosen table. The time window then applies to it. */
export function asksChosenTable(): boolean {
  return tableOf(statement.value) === tableName.value;
}

/**
 * Makes the time strip, the names and the list of tables show the table that the statement queries,
 * with the statement's window.
 */
export function followStatement(text: string): void {
  const table = tableOf(text);
  if (table === undefined) return;
  const window = windowOf(text);
  tableName.value = table;
  if (!isSame(timeWindow.value, window)) timeWindow.value = window;
  seenWindow = timeWindow.value;
}

/** Replaces a result after more of its rows were fetched. */
export function putResult(changed: Result): void {
  results.value = results.value.map((item) => (item.startedAt === changed.startedAt ? changed : item));
}

export function forgetResults(): void {
  for (const item of results.value) item.close();
  results.value = [];
  chosen.value = 0;
}

/** Called when the user signs out, so that no data of the user remains. */
export function forgetQuery(): void {
  running.value?.leaving.abort(new Error('Signed out.'));
  running.value = undefined;
  failed.value = undefined;
  asked.value = undefined;
  forgetResults();
  forgetTransaction();
  forgetStatements();
  written = { table: '', text: '' };
  isRestored = false;
  seenWindow = undefined;
  statement.value = '';
}
