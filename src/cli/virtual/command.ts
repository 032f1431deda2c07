// `hedgerow virtual ...`: runs a command on the virtual graphs of a server.

import { text } from 'node:stream/consumers';
import { HedgerowApiError, HedgerowClient, HedgerowConnectionError } from '../../client/index.ts';
import { errorText } from '../run/error-text.ts';
import { Cancelled } from '../run/runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { printable } from '../table-text.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import type { VirtualFlags } from './flags.ts';
import { VIRTUAL_TASKS, type VirtualTaskName } from './tasks.ts';

export type { VirtualFlags } from './flags.ts';

/**
 * Resolves with the exit code: 0 on success, 1 when the command fails, 2 for a wrong call. `args`
 * are the arguments of the command: ids, files, texts of queries.
 */
export async function virtualCommand(
  name: VirtualTaskName,
  args: readonly (string | undefined)[],
  flags: VirtualFlags,
  world: World,
): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  let query = '';
  try {
    const url = urlOf(flags.url ?? DEFAULT_URL);
    const { takesQuery, run } = VIRTUAL_TASKS[name];
    if (takesQuery) query = await queryOf(name, args[1], world);
    const { apiKey } = flags;
    // The server has its own time limit, and the user can interrupt the wait. There are no retries,
    // because a backend that failed would fail again.
    const client = new HedgerowClient({
      url,
      timeoutMs: 0,
      maxAttempts: 1,
      ...(apiKey === undefined ? {} : { apiKey }),
    });
    await run({ client: client.virtual, args, query, flags, world, signal: controller.signal });
    return 0;
  } catch (error) {
    if (error instanceof HedgerowConnectionError) {
      const advice = 'Start a server with hedgerow serve or hedgerow serve-virtual, or name it with --url.';
      world.stderr.write(`hedgerow: ${printable(error.message)} ${advice}\n`);
      return 1;
    }
    if (!(error instanceof HedgerowApiError)) return reportFailure(world, error);
    world.stderr.write(`hedgerow: ${errorText(error, query)}`);
    return 1;
  } finally {
    forget();
  }
}

async function queryOf(name: string, given: string | undefined, world: World): Promise<string> {
  const query = given === '-' ? await text(world.stdin) : (given ?? '');
  if (query.trim() === '') throw new UsageError(`${name} needs a QUERY, or - and the query on stdin.`);
  return query;
}
