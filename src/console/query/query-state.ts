// The statements and their results, kept while other views are open.

import { storeDraft, storedDraft } from '../drafts.ts';
import { computed, effect, signal } from '../preact.ts';
import { type TimeWindow, tableName, tables, timeWindow } from '../state.ts';
import { patternsOf, quoted } from '../statement-words.ts';
import type { Result } from './run-statement.ts';
import { forgetStatements, pastStatements } from './statement-history.ts';
import { forgetTransaction } from './transaction.ts';
import { windowOf, withWindow } from './window-condition.ts';

/** The text in the editor: one statement, or several with semicolons between them. */
export const statement = signal(storedDraft('statement'));

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
/** Statements that wait until a person has said that they may take something away for good. */
export interface Asked {
  readonly text: string;
  readonly losses: readonly string[];
}
export const asked = signal<Asked | undefined>(undefined);
/** The revision of the data when the statement was last run. */
export const ranAt = signal(0);

/** The statement that the page itself wrote last, and for which table. */
let written = { table: '', text: '' };

function isOwn(): boolean {
  return statement.value.trim() !== '' && statement.value !== written.text;
}

effect(() => storeDraft('statement', isOwn() ? statement.value : ''));

/** A draft of before a reload waits to be looked at. */
let isRestored = isOwn();

/**
 * Once after a reload with a draft: whether it is what had been run, so that its rows can be shown
 * again.
 */
export function takeRestored(): 'was run' | 'was not run' | undefined {
  if (!isRestored) return undefined;
  isRestored = false;
  return pastStatements.value.at(-1) === statement.value ? 'was run' : 'was not run';
}

/**
 * What is asked of a table before anyone has written anything; a statement of one's own stays as it
 * is. True: it was changed.
 */
export function writeFirstStatement(table: string): boolean {
  if (isOwn() || table === '' || written.table === table) return false;
  const text = withWindow(`MATCH (e:${quoted(table)})\nRETURN *\nLIMIT 200`, timeWindow.value);
  written = { table, text };
  statement.value = text;
  return true;
}

/** Holds the statement to the window of time. True: it was changed. */
export function holdToWindow(text = statement.value): boolean {
  const held = withWindow(text, timeWindow.value);
  if (text === written.text) written = { ...written, text: held };
  const isChanged = held !== statement.value;
  statement.value = held;
  return isChanged;
}

/** The window that the statement was last held to. */
let seenWindow: TimeWindow | undefined;

/** True when the window of time is another one than when this was last asked. */
export function windowHasMoved(): boolean {
  const before = seenWindow;
  seenWindow = timeWindow.value;
  return !isSame(before, seenWindow);
}

function isSame(one: TimeWindow | undefined, other: TimeWindow | undefined): boolean {
  return one?.start === other?.start && one?.end === other?.end;
}

/**
 * The table of the first pattern of a text; undefined when it has none, or there is no such table.
 */
function tableOf(text: string): string | undefined {
  const wanted = patternsOf(text)[0]?.table.toLowerCase();
  return tables.value.find(({ name }) => name.toLowerCase() === wanted)?.name;
}

/** True when the window of the chosen table is one that the statement can be held to. */
export function asksChosenTable(): boolean {
  return tableOf(statement.value) === tableName.value;
}

/**
 * The strip of time, the names and the list at the left show the table that is asked, through the
 * window that the statement has.
 */
export function followStatement(text: string): void {
  const table = tableOf(text);
  if (table === undefined) return;
  const window = windowOf(text);
  tableName.value = table;
  if (!isSame(timeWindow.value, window)) timeWindow.value = window;
  seenWindow = timeWindow.value;
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
  asked.value = undefined;
  forgetResults();
  forgetTransaction();
  forgetStatements();
  written = { table: '', text: '' };
  isRestored = false;
  seenWindow = undefined;
  statement.value = '';
}
