// Asks for confirmation before statements that drop something, or delete or change all edges of a
// table. Only a click on its button runs them; the keys that run other statements do not.

import '../style/views.css';
import { lossOf } from '../../formats/losses.ts';
import { useEffect, useRef } from '../preact.ts';
import { asked, statement } from './query-state.ts';
import { run } from './run.ts';

export function lossesOf(statements: readonly string[]): string[] {
  return statements.flatMap((own) => lossOf(own) ?? []);
}

export function LossQuestion() {
  const leave = useRef<HTMLButtonElement>(null);
  const question = asked.value;
  // The question is void once the text has been changed.
  const isStale = question !== undefined && question.text !== statement.value;
  useEffect(() => {
    if (isStale) asked.value = undefined;
    else leave.current?.focus();
  }, [question, isStale]);
  if (question === undefined || isStale) return null;
  return (
    <div class="note note-bad note-transaction" role="alertdialog" aria-label="Run it?" aria-describedby="loss">
      <ul id="loss">
        {question.losses.map((loss) => (
          <li key={loss}>{loss}</li>
        ))}
      </ul>
      <span class="note-actions">
        <button type="button" class="danger" onClick={() => run(question.text, true)}>
          Run it
        </button>
        <button
          type="button"
          ref={leave}
          onClick={() => {
            asked.value = undefined;
          }}
        >
          Leave it
        </button>
      </span>
    </div>
  );
}
