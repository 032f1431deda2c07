// `hedgerow import FILE...`: imports edges from files or stdin into a server or a data directory.

import { resolve } from 'node:path';
import { printable } from '../table-text.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { type Group, openGroups, runGroups } from './groups.ts';
import { closeInputs, type Input, openInputs } from './inputs.ts';
import { nodeTableName } from './nodes/wanted-nodes.ts';
import { batchLimits, type ImportFlags, maxRejectsOf, onErrorOf, openPlace, placeOf } from './options.ts';
import { findProgress } from './progress/progress-files.ts';
import type { Source } from './source.ts';
import { wantedTable } from './wanted-table.ts';

/**
 * Resolves with the exit code: 0 on success; 1 when something failed, an input was not read to its
 * end, or more than half of the rows were rejected; 2 for a wrong call. With `--on-error skip`,
 * rejecting up to half of the rows is not a failure.
 */
export async function importCommand(paths: readonly string[], flags: ImportFlags, world: World): Promise<number> {
  let inputs: Input[] = [];
  try {
    checkPaths(paths, flags, world);
    const onError = onErrorOf(flags);
    const limits = { ...batchLimits(flags), endsAtFault: onError === 'stop' };
    const rules = { limits, onError, maxRejects: maxRejectsOf(flags) };
    inputs = await openInputs(paths, flags, world);
    if (flags.dryRun === true) return await (await import('./dry-run.ts')).dryRun(inputs, flags, world);
    // Plans every input first, so that unsuitable columns are reported before anything is created.
    const table = wantedTable(inputs, flags);
    for (const { looked, holds } of inputs) if (holds === 'nodes') looked.plan([]);
    const warnings = new Set<string>();
    const rejectPathOf = (source: Source) => resolve(world.cwd, flags.rejects ?? `${source.label}.rejects.ndjson`);
    const wanted = { place: placeOf(flags, world), table: flags.table, nodeTable: flags.nodeTable };
    const found = findProgress(inputs, flags.resume === true, wanted, rejectPathOf);
    const startedMs = world.now();
    const place = await openPlace(flags, world);
    let groups: Group[];
    try {
      groups = await openGroups(place, inputs, table, flags);
      await runGroups(groups, { ...rules, rejectPathOf, found, warnings, startedMs }, flags, world);
    } finally {
      await place.close();
    }
    for (const warning of warnings) world.stderr.write(`hedgerow: ${printable(warning)}\n`);
    for (const group of groups) if (group.tally !== undefined) world.stdout.write(`${summaryText(group)}\n`);
    return exitCodeOf(groups, world);
  } catch (error) {
    // Messages quote names and cells from files, so control characters are made visible.
    if (error instanceof Error) error.message = printable(error.message);
    return reportFailure(world, error);
  } finally {
    closeInputs(inputs);
  }
}

function checkPaths(paths: readonly string[], flags: ImportFlags, world: World): void {
  const { nodes } = flags;
  if (paths.length === 0 && nodes === undefined)
    throw new UsageError('import needs at least one FILE, or - for stdin, or --nodes FILE.');
  if (paths.length === 0 && nodeTableName(flags) === undefined)
    throw new UsageError('--nodes without edges needs --node-table NAME, the node table that gets the nodes.');
  if (nodes === undefined && flags.key !== undefined) throw new UsageError('--key needs --nodes FILE.');
  const all = nodes === undefined ? paths : [nodes, ...paths];
  if (all.filter((path) => path === '-').length > 1) throw new UsageError('stdin (-) can be read once only.');
  const files = all.filter((path) => path !== '-').map((path) => resolve(world.cwd, path));
  const twice = files.find((path, index) => files.indexOf(path) !== index);
  if (twice !== undefined) throw new UsageError(`${twice} is named twice; what it holds would be inserted twice.`);
  if (flags.resume === true && all.includes('-'))
    throw new UsageError('--resume needs files: what came through stdin cannot be read again.');
  if (flags.rejects === undefined) return;
  const rejects = resolve(world.cwd, flags.rejects);
  if (all.some((path) => path !== '-' && resolve(world.cwd, path) === rejects)) {
    throw new UsageError(`--rejects names the input ${flags.rejects}; it would be overwritten.`);
  }
}

function exitCodeOf(groups: readonly Group[], world: World): number {
  if (groups.some(({ tally }) => tally === undefined || tally.stop !== undefined)) return 1;
  let code = 0;
  for (const { tally } of groups) {
    const rows = tally!.inserted + tally!.rejected;
    if (tally!.rejected * 2 <= rows) continue;
    world.stderr.write(`hedgerow: ${tally!.rejected} of ${rows} rows were rejected; the reject file says why.\n`);
    code = 1;
  }
  return code;
}

function summaryText({ inputs, target, nodes, tally, seconds }: Group): string {
  const names = inputs.map(({ source }) => source.label).join(', ');
  const rate = Math.round(tally!.inserted / seconds);
  const { inserted, replaced } = nodes?.counts ?? {};
  const what = nodes === undefined ? `inserted ${tally!.inserted}` : `nodes inserted ${inserted}, replaced ${replaced}`;
  return `${names} -> ${target.tableName}: ${what}, rejected ${tally!.rejected}, ${seconds.toFixed(2)} s, ${rate} rows/s`;
}
