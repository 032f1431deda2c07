// Keeps the statements of this tab, newest last. They are deleted when the tab is closed or the
// user signs out, because they may contain data.

import { type ReadonlySignal, signal } from '../preact.ts';

const STORED = 'hedgerow.statements';
const MOST = 50;

const past = signal(stored());
/** The list is replaced by a new one when a statement is run. */
export const pastStatements: ReadonlySignal<readonly string[]> = past;

function stored(): readonly string[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

/** Adds a statement, and removes it and `instead` from earlier places in the list. */
export function rememberStatement(statement: string, instead: string): void {
  past.value = [...past.value.filter((item) => item !== statement && item !== instead), statement].slice(-MOST);
  try {
    sessionStorage.setItem(STORED, JSON.stringify(past.value));
  } catch {
    // The tab's storage is full; the stored list stays unchanged.
  }
}

export function forgetStatements(): void {
  past.value = [];
}
