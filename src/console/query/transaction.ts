// The transaction of this page: the session its statements belong to, and what is known of it.

import { HedgerowApiError, type QueryRow } from '../../client/index.ts';
import { signal } from '../preact.ts';
import { firstWord } from '../statement-words.ts';

/** Of this page alone: another one with the same key has its own. */
const SESSION = `console-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

export interface OpenTransaction {
  /** After this time without a statement the service rolls it back. */
  readonly idleSeconds: number;
  readonly timer: ReturnType<typeof setTimeout>;
  /** The time has run out. */
  readonly isOver: boolean;
}

/** Undefined: statements commit by themselves. */
export const transaction = signal<OpenTransaction | undefined>(undefined);

/** What the service does by default. */
const IDLE_SECONDS = 30;

/**
 * Statements outside of transactions are sent without one, so that they can be sent again when an
 * answer is lost.
 */
export function sessionFor(statement: string): { session?: string } {
  return transaction.value !== undefined || firstWord(statement) === 'BEGIN' ? { session: SESSION } : {};
}

/**
 * A statement has been answered: BEGIN opens, COMMIT and ROLLBACK close, and every other one begins
 * the idle time anew.
 */
export function transactionRan(statement: string, rows: readonly QueryRow[]): void {
  const word = firstWord(statement);
  if (word === 'BEGIN') open(idleSecondsOf(rows[0]?.expires_at));
  else if (word === 'COMMIT' || word === 'ROLLBACK') forgetTransaction();
  else if (transaction.value !== undefined && !transaction.value.isOver) open(transaction.value.idleSeconds);
}

/**
 * A COMMIT or ROLLBACK was refused: there was no transaction any more, or a conflict has rolled it
 * back; unless another statement of it still runs.
 */
export function transactionFailed(statement: string, error: unknown): void {
  if (!(error instanceof HedgerowApiError) || /still running/.test(error.detail)) return;
  if (['COMMIT', 'ROLLBACK'].includes(firstWord(statement))) forgetTransaction();
}

export function forgetTransaction(): void {
  clearTimeout(transaction.value?.timer);
  transaction.value = undefined;
}

function open(idleSeconds: number): void {
  forgetTransaction();
  const timer = setTimeout(() => {
    if (transaction.value?.timer === timer) transaction.value = { idleSeconds, timer, isOver: true };
  }, idleSeconds * 1000);
  transaction.value = { idleSeconds, timer, isOver: false };
}

/** The clocks of the service and of this machine may differ: what cannot be is not believed. */
function idleSecondsOf(expiresAt: unknown): number {
  const seconds = typeof expiresAt === 'number' ? Math.floor(expiresAt - Date.now() / 1000) : 0;
  return seconds > 0 && seconds <= 3600 ? seconds : IDLE_SECONDS;
}
