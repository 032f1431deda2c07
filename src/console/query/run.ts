// Runs what stands in the editor, one statement after the other, and stops it.

import { session } from '../session.ts';
import { dataChanged, revision } from '../state.ts';
import { firstWord } from '../statement-words.ts';
import { chosen, failed, forgetResults, ranAt, results, running, statement } from './query-state.ts';
import { type Result, runStatement } from './run-statement.ts';
import { statementsOf } from './script.ts';
import { rememberStatement } from './statement-history.ts';

/** The reason of a run that a person has stopped. */
export class Stopped extends Error {}

const READS: ReadonlySet<string> = new Set(['MATCH', 'SHOW', 'EXPLAIN', 'ANALYZE']);

/** A run that is going on is given up. Ends when the last statement has, or at the first that fails; the results so far stay. */
export async function run(text = statement.value): Promise<void> {
  const statements = statementsOf(text);
  if (statements.length === 0) return;
  running.value?.leaving.abort(new Error('Another statement was run.'));
  const leaving = new AbortController();
  const by = session.value;
  const isCurrent = () => running.value?.leaving === leaving;
  const found: Result[] = [];
  let hasWritten = false;
  // They may keep a session or a connection busy. What they show stays until there is something else to show.
  for (const result of results.value) result.close();
  try {
    for (const [index, own] of statements.entries()) {
      running.value = { leaving, at: index + 1, count: statements.length };
      hasWritten ||= !READS.has(firstWord(own));
      const result = await runStatement(own, { signal: leaving.signal, isHeld: index === statements.length - 1 });
      if (!isCurrent()) return result.close();
      found.push(result);
      results.value = [...found];
      chosen.value = index;
    }
    failed.value = undefined;
  } catch (error) {
    if (!isCurrent()) return;
    failed.value = { error, at: running.value!.at, count: statements.length, hasWritten };
    if (found.length === 0) forgetResults();
  } finally {
    // Nothing of one who has signed out meanwhile stays.
    if (session.value === by) rememberStatement(text);
    if (isCurrent()) {
      running.value = undefined;
      ranAt.value = revision.value;
      if (hasWritten) await dataChanged();
    }
  }
}

/** On the server too. What it has written stays written. */
export function stop(): void {
  running.value?.leaving.abort(new Stopped());
}
