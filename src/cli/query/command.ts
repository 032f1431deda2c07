// `hedgerow query STATEMENT`: runs one statement on a server or in a data directory, and writes its
// rows.

import { text } from 'node:stream/consumers';
import { errorText } from '../run/error-text.ts';
import { Cancelled } from '../run/runner.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { formatOf, openRunner, parametersOf, type RunnerFlags, timesOf } from './options.ts';
import { show } from './output.ts';

export interface QueryFlags extends RunnerFlags {
  param?: readonly string[] | undefined;
  format?: string | undefined;
  times?: string | undefined;
}

/**
 * Matches statements that are refused, because a transaction that one call begins could not be
 * ended by a later call.
 */
const TRANSACTION = /^\s*(BEGIN|COMMIT|ROLLBACK)\s*;?\s*$/i;

/**
 * Resolves with the exit code: 0 on success, 1 when the statement fails, 2 for a wrong call. When
 * `given` is `-`, the statement is read from stdin.
 */
export async function queryCommand(given: string, flags: QueryFlags, world: World): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  try {
    const format = formatOf(flags.format, world);
    const times = timesOf(flags.times);
    const parameters = parametersOf(flags.param ?? []);
    const statement = given === '-' ? await text(world.stdin) : given;
    if (statement.trim() === '') throw new UsageError('query needs a STATEMENT, or - and the statement on stdin.');
    if (TRANSACTION.test(statement))
      throw new UsageError(
        'query runs one statement, which is a transaction of its own; use hedgerow shell for BEGIN, COMMIT and ROLLBACK.',
      );
    const runner = await openRunner(flags, world);
    try {
      await show(runner, { statement, parameters, signal: controller.signal, times }, format, world.stdout);
      return 0;
    } catch (error) {
      world.stderr.write(`hedgerow: ${errorText(error, statement)}`);
      return 1;
    } finally {
      await runner.close();
    }
  } catch (error) {
    return reportFailure(world, error);
  } finally {
    forget();
  }
}
