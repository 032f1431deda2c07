// Tracks the transaction of this page: the session of its statements, and whether it is open.

import { HedgerowApiError, type QueryRow } from '../../client/index.ts';
import { signal } from '../preact.ts';
import { firstWord } from '../statement-words.ts';

/** Used by this page only; another page with the same key has its own session. */
const SESSION = `console-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

export interface OpenTransaction {
  /** The service rolls the transaction back after this time without a statement. */
  readonly idleSeconds: number;
  readonly timer: ReturnType<typeof setTimeout>;
  /** True when that time has passed. */
  readonly isOver: boolean;
}

/** Undefined: each statement commits by itself. */
export const transaction = signal<OpenTransaction | undefined>(undefined);

/** The default idle time of the service. */
const IDLE_SECONDS = 30;

/**
 * Returns the session for a statement. Outside of transactions there is none, so that a statement
 * can be sent again when its answer is lost.
 */
export function sessionFor(statement: string): { session?: string } {
  return transaction.value !== undefined || firstWord(statement) === 'BEGIN' ? { session: SESSION } : {};
}

/**
 * Updates the state after an answer: BEGIN opens a transaction, COMMIT and ROLLBACK close it, and
 * every other statement restarts the idle time.
 */
export function transactionRan(statement: string, rows: readonly QueryRow[]): void {
  const word = firstWord(statement);
  if (word === 'BEGIN') open(idleSecondsOf(rows[0]?.expires_at));
  else if (word === 'COMMIT' || word === 'ROLLBACK') forgetTransaction();
  else if (transaction.value !== undefined && !transaction.value.isOver) open(transaction.value.idleSeconds);
}

/**
 * Updates the state after a refusal of COMMIT or ROLLBACK: the transaction no longer exists, or a
 * conflict has rolled it back. It stays open when another of its statements is still running.
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

/**
 * Returns the idle time, or its default if the result is not plausible: the clocks of the service
 * and of this machine may differ.
 */
function idleSecondsOf(expiresAt: unknown): number {
  const seconds = typeof expiresAt === 'number' ? Math.floor(expiresAt - Date.now() / 1000) : 0;
  return seconds > 0 && seconds <= 3600 ? seconds : IDLE_SECONDS;
}
