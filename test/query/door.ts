// Runs statements through the service's own entry point: takes text, parameters and a session, and
// returns columns and rows, or throws an error with its code.

import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { chunkText, rowKeys } from '../../src/query/executor/rows/result-text.ts';
import type { Statements } from '../../src/query/statements.ts';
import type { RunSteps } from '../../src/schedule/scheduler.ts';

export interface DoorAnswer {
  readonly columns: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: the tests read fields of rows of every form.
  readonly rows: readonly any[];
  /** Log position whose state the rows reflect. */
  readonly lsn: number;
}

/** Yields to other work between two steps of a statement. */
export const WITH_TURNS: RunSteps = async (step) => {
  while (step()) await null;
};

export async function runDoor(
  statements: Statements,
  text: string,
  parameters: ParameterValues = {},
  session = 'test',
  slices: RunSteps = WITH_TURNS,
): Promise<DoorAnswer> {
  const result = await statements.execute(statements.prepare(text), { parameters, session, slices });
  const keys = rowKeys(result.columns);
  let json = '';
  for (const chunk of result.steps) {
    if (chunk === null || chunk.count === 0) continue;
    json += (json === '' ? '' : ',') + chunkText(chunk, keys, '');
  }
  return { columns: result.columns, rows: JSON.parse(`[${json}]`), lsn: result.lsn };
}
