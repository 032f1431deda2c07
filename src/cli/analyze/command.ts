// `hedgerow analyze TABLE MEASURE`: computes a measure on a server or in a data directory and
// writes the result.

import { formatOf, type RunnerFlags } from '../query/options.ts';
import { show } from '../query/output.ts';
import { errorText } from '../run/error-text.ts';
import { Cancelled, type Row, type StatementRunner } from '../run/runner.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { measureParametersOf } from './parameters.ts';
import { largestFirst, rowsOf } from './rows.ts';
import { type MeasureSource, openSource } from './source.ts';

export interface AnalyzeFlags extends RunnerFlags {
  param?: readonly string[] | undefined;
  params?: string | undefined;
  format?: string | undefined;
}

/**
 * Resolves with the exit code: 0 on success, 1 when the measure fails, 2 for a wrong call. The
 * format `json` writes the whole answer; the other formats write only the rows of the result.
 */
export async function analyzeCommand(
  table: string | undefined,
  measure: string | undefined,
  flags: AnalyzeFlags,
  world: World,
): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  try {
    if (table !== undefined && measure === undefined)
      throw new UsageError('analyze needs a TABLE and a MEASURE; without both it lists the measures.');
    const format = formatOf(flags.format, world);
    const params = measureParametersOf(flags.param ?? [], flags.params);
    const source = await openSource(flags, world);
    try {
      const [answer, rows] = await ask(source, table, measure, params, controller.signal);
      if (format === 'json') world.stdout.write(`${JSON.stringify(answer)}\n`);
      else
        await show(fixedRows(rows), { statement: '', parameters: {}, signal: controller.signal }, format, world.stdout);
      return 0;
    } catch (error) {
      world.stderr.write(`hedgerow: ${errorText(error, '')}`);
      return 1;
    } finally {
      await source.close();
    }
  } catch (error) {
    return reportFailure(world, error);
  } finally {
    forget();
  }
}

async function ask(
  source: MeasureSource,
  table: string | undefined,
  measure: string | undefined,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<[unknown, readonly Row[]]> {
  if (table === undefined || measure === undefined) {
    const measures = await source.list(signal);
    return [measures, measures.map(({ measure: name, about }) => ({ measure: name, about }))];
  }
  const answer = await source.run(table, measure, params, signal);
  const rows = rowsOf(answer.result, measure);
  // A caller who asks for the largest values wants to see them in that order. A JSON object has
  // lost this order, because it lists integer keys in ascending order.
  const isRanking = params.top !== undefined || params.limit !== undefined;
  return [answer, isRanking ? largestFirst(rows, answer.result) : rows];
}

/** Returns a runner whose result is these rows, because the output formats read from a runner. */
function fixedRows(rows: readonly Row[]): StatementRunner {
  const columns = [...new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))];
  async function* batches() {
    yield rows;
  }
  return {
    run: async () => ({ columns, batches: batches(), plan: () => null }),
    rows: batches,
    close: async () => {},
  };
}
