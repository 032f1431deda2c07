// Runs the INSERT statements of a dump, and skips those that were run before.

import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { openRunner, type RunnerFlags } from '../query/options.ts';
import { errorText } from '../run/error-text.ts';
import { Cancelled, type StatementRunner } from '../run/runner.ts';
import { type Piece, StatementSplitter } from '../shell/statement-splitter.ts';
import type { World } from '../world.ts';

/** Resolves with an exit code. `done` is the number of rows of the file that are in the table. */
export async function runStatements(
  path: string,
  { table, done }: { table: string; done: number },
  flags: RunnerFlags,
  world: World,
): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  let inserted = 0;
  try {
    const runner = await openRunner(flags, world);
    try {
      let left = done;
      for await (const { text } of statementsOf(path)) {
        // A statement is one commit, so the table contains all of its rows or none.
        const rows = rowsIn(text);
        if (left >= rows) left -= rows;
        else if (left > 0)
          throw new Error(`${table} has rows that are not from this load. Drop it, and load again with --resume.`);
        else inserted += await insert(runner, text, controller.signal);
      }
    } finally {
      await runner.close();
    }
  } catch (error) {
    world.stderr.write(
      `hedgerow: ${basename(path)}: ${errorText(error, '')}hedgerow: To go on there: the same call with --resume.\n`,
    );
    return 1;
  } finally {
    forget();
  }
  world.stdout.write(`${basename(path)} -> ${table}: inserted ${inserted}\n`);
  return 0;
}

async function insert(runner: StatementRunner, statement: string, signal: AbortSignal): Promise<number> {
  const { batches } = await runner.run(statement, {}, signal);
  let rows = 0;
  for await (const batch of batches) for (const row of batch) rows += Number(row.rows_affected);
  return rows;
}

/** Counts the rows of a statement: a dump writes one row per line, after the first line. */
function rowsIn(statement: string): number {
  return statement.split('\n').length - 1;
}

async function* statementsOf(path: string): AsyncGenerator<Piece, void, undefined> {
  const splitter = new StatementSplitter();
  let rest = '';
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 2 ** 18 })) {
    const lines = (rest + (chunk as string)).split('\n');
    rest = lines.pop()!;
    for (const line of lines) yield* splitter.add(`${line}\n`);
  }
}
