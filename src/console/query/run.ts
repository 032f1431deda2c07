// Runs the statements in the editor one after another, and stops them.

import { session } from '../session.ts';
import { dataChanged, revision } from '../state.ts';
import { firstWord, parametersOf } from '../statement-words.ts';
import {
  asked,
  chosen,
  failed,
  followStatement,
  forgetResults,
  ranAt,
  results,
  running,
  statement,
} from './query-state.ts';
import { type Parameters, type Result, runStatement } from './run-statement.ts';
import { statementsOf } from './script.ts';
import { rememberStatement } from './statement-history.ts';

/** The reason of the signal when the user stops a run. */
export class Stopped extends Error {}

const READS: ReadonlySet<string> = new Set(['MATCH', 'SHOW', 'EXPLAIN', 'ANALYZE']);

/**
 * Runs the statements; cancels a run in progress. Ends after the last statement, or at the first
 * that fails; the results so far are kept. When a statement needs confirmation (`lossesOf`), none
 * is run until the user has given it (`isConfirmed`). Among the earlier statements the text takes
 * the place of `instead`.
 */
export async function run(text = statement.value, isConfirmed = false, instead = ''): Promise<void> {
  const statements = statementsOf(text);
  if (statements.length === 0) return;
  asked.value = undefined;
  if (!isConfirmed && /DROP|DELETE|UPDATE/i.test(text)) {
    const { lossesOf } = await import('./loss-question.tsx');
    const losses = lossesOf(statements);
    if (losses.length > 0) {
      asked.value = { text, losses };
      return;
    }
  }
  followStatement(text);
  running.value?.leaving.abort(new Error('Another statement was run.'));
  const leaving = new AbortController();
  const by = session.value;
  const isCurrent = () => running.value?.leaving === leaving;
  const found: Result[] = [];
  let hasWritten = false;
  // Open results may keep a session or a connection busy. They stay visible until there is a new
  // result to show.
  for (const result of results.value) result.close();
  try {
    for (const [index, own] of statements.entries()) {
      running.value = { leaving, at: index + 1, count: statements.length };
      const parameters = await parametersFor(own);
      hasWritten ||= !READS.has(firstWord(own));
      const isHeld = index === statements.length - 1;
      const result = await runStatement(own, { parameters, signal: leaving.signal, isHeld });
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
    // The user may have signed out meanwhile; then nothing is stored.
    if (session.value === by) rememberStatement(text, instead);
    if (isCurrent()) {
      running.value = undefined;
      ranAt.value = revision.value;
      if (hasWritten) await dataChanged();
    }
  }
}

/** Stops the run, on the server too. What has been written stays written. */
export function stop(): void {
  running.value?.leaving.abort(new Stopped());
}

/** Throws an Error with a sentence for a field that is empty or does not fit its kind. */
async function parametersFor(own: string): Promise<Parameters> {
  if (parametersOf(own).length === 0) return {};
  const { parameterValues } = await import('./parameter-inputs.tsx');
  return parameterValues(own);
}
