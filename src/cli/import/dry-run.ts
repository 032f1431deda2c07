// `hedgerow import --dry-run`: says what an import would do, and does nothing.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openDirectory } from '../query/directory-runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import type { World } from '../world.ts';
import type { Input } from './inputs.ts';
import { NodeNames } from './node-names.ts';
import type { ImportFlags } from './options.ts';
import { ServerClient } from './server-client.ts';
import { NODES_SUFFIX, type TableColumn } from './target.ts';

/** What is known of the table, without making anything. */
interface Look {
  readonly place: string;
  /** Undefined: there is no such table. */
  readonly table:
    | { readonly name: string; readonly columns: readonly TableColumn[]; readonly rows: number }
    | undefined;
}

/** Resolves with the exit code: 1 when the import would fail. */
export async function dryRun(inputs: readonly Input[], flags: ImportFlags, world: World): Promise<number> {
  const look = await lookAt(flags, world);
  const wanted = flags.table ?? look.table?.name ?? 'the primary table';
  const creates = flags.create === true || flags.createTable === true;
  const lines: string[] = [];
  let fails = false;
  const known = [...(look.table?.columns ?? [])];
  if (look.table !== undefined) lines.push(`table: ${look.table.name} at ${look.place}, ${look.table.rows} rows`);
  else if (creates || flags.table === undefined) lines.push(`table: ${wanted} at ${look.place}, will be made`);
  else {
    lines.push(`table: there is no ${wanted} at ${look.place}; --create makes it`);
    fails = true;
  }
  for (const { source, format, looked } of inputs) {
    const plan = looked.plan(known);
    const missing = plan.columns.filter(({ name }) => !isKnown(known, name));
    lines.push(`${source.label}: ${format}`, ...plan.notes.map((note) => `  ${note}`));
    for (const { name, type } of missing) {
      if (format === 'ndjson' && flags.create !== true)
        lines.push(`  no column ${name} in the table: not read; --create makes it`);
      else
        lines.push(
          flags.create === true
            ? `  will be made: column ${name} ${type}`
            : `  no column ${name} in the table; --create makes it`,
        );
    }
    if (missing.length > 0 && flags.create !== true && format !== 'ndjson') fails = true;
    if (plan.named) lines.push(`  numbers of names: table ${wanted}${NODES_SUFFIX}, column vertex`);
    lines.push(
      '  first edges:',
      ...plan.firstEdges(plan.named ? new NodeNames() : undefined).map((edge) => `    ${edge}`),
    );
    known.push(...missing);
  }
  world.stdout.write(`${lines.join('\n')}\nNothing was written.\n`);
  return fails ? 1 : 0;
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
    return { place: url, table: item && { name: item.name, columns: item.columns, rows: item.row_count } };
  }
  const place = resolve(world.cwd, flags.data);
  if (!existsSync(place)) return { place, table: undefined };
  const { database } = await openDirectory(flags.data, undefined, world);
  try {
    const item = database
      .tables()
      .map((table) => table.item())
      .find(isWanted);
    return { place, table: item && { name: item.name, columns: item.columns, rows: item.row_count } };
  } finally {
    await database.close();
  }
}
