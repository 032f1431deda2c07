// Shows that a transaction is open, with buttons to commit it or roll it back.

import '../style/views.css';
import { run } from './run.ts';
import { forgetTransaction, transaction } from './transaction.ts';

export function TransactionNote() {
  if (transaction.value === undefined) return null;
  const { idleSeconds, isOver } = transaction.value;
  return (
    <div class="note note-transaction" role="status">
      <span>
        {isOver
          ? `The transaction was rolled back: no statement was run in it for ${idleSeconds} seconds. BEGIN starts a new one, ROLLBACK goes on without.`
          : `A transaction is open: other views do not see what it writes before COMMIT. It is rolled back after ${idleSeconds} seconds without a statement.`}
      </span>
      <span class="note-actions">
        {!isOver && (
          <button type="button" onClick={() => run('COMMIT')}>
            Commit
          </button>
        )}
        <button type="button" onClick={() => (isOver ? forgetTransaction() : run('ROLLBACK'))}>
          {isOver ? 'Dismiss' : 'Roll back'}
        </button>
      </span>
    </div>
  );
}
