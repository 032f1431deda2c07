// `hedgerow import --dry-run`: reports what an import would do, and changes nothing.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TableItem } from '../../engine/index.ts';
import { openDirectory } from '../run/directory-runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { printable } from '../table-text.ts';
import type { World } from '../world.ts';
import type { Input } from './inputs.ts';
import { type ImportFlags, onErrorOf } from './options.ts';
import type { PlannedInput } from './planned-input.ts';
import { type TriedRows, tryRows } from './rows/try-rows.ts';
import { ServerClient } from './targets/server-client.ts';
import { columnsOfItem, NODES_SUFFIX, type TableColumn } from './targets/target.ts';

/** What can be found out about the table without creating anything. */
interface Look {
  readonly place: string;
  /** Undefined when there is no such table. */
  readonly table:
    | {
        readonly name: string;
        readonly columns: readonly TableColumn[];
        readonly roles: readonly string[];
        readonly intervals: boolean;
        readonly rows: number;
      }
    | undefined;
}

/** Resolves with the exit code: 0, or 1 when the import would fail. */
export async function dryRun(inputs: readonly Input[], flags: ImportFlags, world: World): Promise<number> {
  const look = await lookAt(flags, world);
  const wanted = flags.table ?? look.table?.name ?? 'the primary table';
  const creates = flags.create === true || flags.createTable === true;
  const lines: string[] = [];
  const failures: string[] = [];
  let fails = false;
  const known = [...(look.table === undefined ? [] : columnsOfItem(look.table))];
  if (look.table !== undefined) lines.push(`table: ${look.table.name} at ${look.place}, ${look.table.rows} rows`);
  else if (creates || flags.table === undefined) lines.push(`table: ${wanted} at ${look.place}, will be made`);
  else {
    lines.push(`table: there is no ${wanted} at ${look.place}; --create makes it`);
    fails = true;
  }
  const roles = look.table?.roles ?? [...new Set(inputs.flatMap(({ looked }) => looked.roles ?? []))];
  if (look.table === undefined && roles.length > 0) lines.push(`  with the roles ${roles.join(', ')}`);
  for (const input of inputs) {
    const plan = input.looked.plan(known, roles);
    const missing = plan.columns.filter(({ name }) => !isKnown(known, name));
    const tried = await tryRows(
      plan,
      [...known, ...missing].filter(({ isEnd }) => !isEnd),
      roles,
      look.table?.intervals ?? plan.intervals,
    );
    lines.push(`${input.source.label}: ${input.format}`, ...inputLines(plan, tried, wanted));
    lines.push(...missing.map((column) => `  ${missingText(column, input, flags)}`));
    if (missing.length > 0 && flags.create !== true && input.format !== 'ndjson') fails = true;
    const failure = failureText(input, tried, onErrorOf(flags));
    if (failure !== undefined) failures.push(failure);
    const edges = plan.firstEdges();
    if (edges.length > 0) lines.push('  first edges:', ...edges.map((edge) => `    ${edge}`));
    known.push(...missing);
  }
  world.stdout.write(`${lines.map(printable).join('\n')}\nNothing was written.\n`);
  for (const failure of failures) world.stderr.write(`hedgerow: ${printable(failure)}\n`);
  return fails || failures.length > 0 ? 1 : 0;
}

function inputLines(plan: PlannedInput, { count, bad, firstBad }: TriedRows, wanted: string): string[] {
  const badText =
    firstBad === undefined
      ? []
      : [`bad rows: ${bad === count ? `all ${count}` : `${bad} of the first ${count}`}, from line ${firstBad.line} on`];
  return [
    ...badText,
    // The notes describe rows; when no row can be read, there is nothing to describe.
    ...(bad > 0 && plan.firstEdges().length === 0 ? [] : plan.notes),
    ...plan.warnings.map((warning) => `warning: ${warning}`),
    ...(plan.named ? [`numbers of names: table ${wanted}${NODES_SUFFIX}, column vertex`] : []),
  ].map((line) => `  ${line}`);
}

function missingText({ name, type }: TableColumn, { format }: Input, { create }: ImportFlags): string {
  if (create === true) return `will be made: column ${name} ${type}`;
  if (format === 'ndjson') return `no column ${name} in the table: not read; --create makes it`;
  return `no column ${name} in the table; --create makes it`;
}

/** Returns why an import would fail, judging by the first rows; undefined when it would succeed. */
function failureText({ source }: Input, { count, bad, firstBad }: TriedRows, onError: 'stop' | 'skip') {
  if (firstBad === undefined || (onError === 'skip' && bad * 2 <= count)) return undefined;
  const what = `line ${firstBad.line} of ${source.path}: ${firstBad.reason}`;
  if (bad === count) return `${what} Of the first ${count === 1 ? 'row' : `${count} rows`} none can be read.`;
  if (onError === 'skip') return `${what} Of the first ${count} rows ${bad} cannot be read.`;
  return `${what} An import would stop there; --on-error skip sets bad lines aside and goes on.`;
}

function isKnown(known: readonly TableColumn[], name: string): boolean {
  return known.some((column) => column.name.toLowerCase() === name.toLowerCase());
}

async function lookAt(flags: ImportFlags, world: World): Promise<Look> {
  const isWanted = ({ name, primary }: { name: string; primary: boolean }) =>
    flags.table === undefined ? primary : name.toLowerCase() === flags.table.toLowerCase();
  if (flags.data === undefined) {
    const url = urlOf(flags.url ?? DEFAULT_URL);
    const item = (await new ServerClient({ url, apiKey: flags.apiKey }, world.now).tables()).find(isWanted);
    return { place: url, table: item && tableOf(item) };
  }
  const place = resolve(world.cwd, flags.data);
  if (!existsSync(place)) return { place, table: undefined };
  const { database } = await openDirectory(flags.data, undefined, world);
  try {
    const item = database
      .tables()
      .map((table) => table.item())
      .find(isWanted);
    return { place, table: item && tableOf(item) };
  } finally {
    await database.close();
  }
}

/** Older servers do not say whether a table has intervals or roles; it then has none. */
function tableOf({ name, columns, roles = [], intervals, row_count: rows }: TableItem): NonNullable<Look['table']> {
  return { name, columns, roles, intervals: intervals === true, rows };
}
