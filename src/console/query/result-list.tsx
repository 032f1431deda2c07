// Lists the outcomes of several statements. The user chooses the one whose result is shown.

import '../style/views.css';
import { countText, secondsText } from '../format.ts';
import { chosen, results } from './query-state.ts';
import type { Result } from './run-statement.ts';

export function ResultList() {
  return (
    <section class="panel" aria-label="Statements that have run">
      <ol class="plain-list result-list">
        {results.value.map((result, at) => (
          <li key={result.startedAt}>
            <button
              type="button"
              class="entry"
              aria-pressed={chosen.value === at}
              onClick={() => {
                chosen.value = at;
              }}
            >
              <span class="statement-line">{result.statement.trim().replace(/\s+/g, ' ')}</span>
              <span class="quiet">
                {outcomeOf(result)}, {secondsText(result.elapsedMs / 1000)}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function outcomeOf({ rows, hasMore, isCut, plan }: Result): string {
  const affected = rows[0]?.rows_affected;
  if (plan !== undefined) return 'plan';
  if (typeof affected === 'number') return `${countText(affected, 'row')} changed`;
  return `${hasMore || isCut ? 'more than ' : ''}${countText(rows.length, 'row')}`;
}
