// The statements of this tab, newest last; gone with the tab or the sign-out, since they may hold
// data.

import { type ReadonlySignal, signal } from '../preact.ts';

const STORED = 'hedgerow.statements';
const MOST = 50;

const past = signal(stored());
/** The list changes when a statement is run, and is the same one until then. */
export const pastStatements: ReadonlySignal<readonly string[]> = past;

function stored(): readonly string[] {
  try {
    const list: unknown = JSON.parse(sessionStorage.getItem(STORED) ?? '[]');
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}

/** The same statement again moves to the end. */
export function rememberStatement(statement: string): void {
  past.value = [...past.value.filter((item) => item !== statement), statement].slice(-MOST);
  try {
    sessionStorage.setItem(STORED, JSON.stringify(past.value));
  } catch {
    // No room left in the tab's storage: there the list stays as it was.
  }
}

export function forgetStatements(): void {
  past.value = [];
}
