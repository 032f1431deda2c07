// `hedgerow import FILE...`: imports edges from files or stdin into a server or a data directory.

import { resolve } from 'node:path';
import { type Progress, startProgress } from '../progress.ts';
import { printable } from '../table-text.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { closeInputs, type Input, openInputs } from './inputs.ts';
import type { NodeNames } from './node-names.ts';
import { batchLimits, type ImportFlags, maxRejectsOf, onErrorOf, openTarget, placeOf } from './options.ts';
import type { PlannedInput } from './planned-input.ts';
import { prepare } from './prepare.ts';
import { type FoundProgress, findProgress, ProgressFiles } from './progress/progress-files.ts';
import { RejectFiles } from './progress/rejects.ts';
import { memorySparer } from './progress/spare-memory.ts';
import { ImportRun, type RunOptions, stopText, type Tally } from './run.ts';
import type { Source } from './source.ts';
import type { ImportTarget } from './targets/target.ts';

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
    const intervals = inputs.map(({ looked }) => looked.plan([], []).intervals).includes(true);
    const warnings = new Set<string>();
    const rejectPathOf = (source: Source) => resolve(world.cwd, flags.rejects ?? `${source.label}.rejects.ndjson`);
    const wanted = { place: placeOf(flags, world), table: flags.table };
    const found = findProgress(inputs, flags.resume === true, wanted, rejectPathOf);
    const startedMs = world.now();
    const roles = [...new Set(inputs.flatMap(({ looked }) => looked.roles ?? []))];
    const target = await openTarget(flags, { intervals, roles }, world);
    let tally: Tally;
    try {
      tally = await runImport(inputs, flags, { ...rules, rejectPathOf, found, warnings }, target, world);
    } finally {
      await target.close();
    }
    const seconds = Math.max(0.001, (world.now() - startedMs) / 1000);
    for (const warning of warnings) world.stderr.write(`hedgerow: ${printable(warning)}\n`);
    world.stdout.write(`${summaryText(inputs, target.tableName, tally, seconds)}\n`);
    if (tally.stop !== undefined) return 1;
    const rows = tally.inserted + tally.rejected;
    if (tally.rejected * 2 <= rows) return 0;
    world.stderr.write(`hedgerow: ${tally.rejected} of ${rows} rows were rejected; the reject file says why.\n`);
    return 1;
  } catch (error) {
    // Messages quote names and cells from files, so control characters are made visible.
    if (error instanceof Error) error.message = printable(error.message);
    return reportFailure(world, error);
  } finally {
    closeInputs(inputs);
  }
}

function checkPaths(paths: readonly string[], flags: ImportFlags, world: World): void {
  if (paths.length === 0) throw new UsageError('import needs at least one FILE, or - for stdin.');
  if (paths.filter((path) => path === '-').length > 1) throw new UsageError('stdin (-) can be read once only.');
  const files = paths.filter((path) => path !== '-').map((path) => resolve(world.cwd, path));
  const twice = files.find((path, index) => files.indexOf(path) !== index);
  if (twice !== undefined) throw new UsageError(`${twice} is named twice; its edges would be inserted twice.`);
  if (flags.resume === true && paths.includes('-'))
    throw new UsageError('--resume needs files: what came through stdin cannot be read again.');
  if (flags.rejects === undefined) return;
  const rejects = resolve(world.cwd, flags.rejects);
  if (paths.some((path) => path !== '-' && resolve(world.cwd, path) === rejects)) {
    throw new UsageError(`--rejects names the input ${flags.rejects}; it would be overwritten.`);
  }
}

interface RunRules extends Pick<RunOptions, 'limits' | 'onError' | 'maxRejects' | 'rejectPathOf'> {
  readonly found: readonly FoundProgress[];
  /** Collects the warnings about the inputs that are read. */
  readonly warnings: Set<string>;
}

async function runImport(
  inputs: readonly Input[],
  flags: ImportFlags,
  { found, warnings, ...rules }: RunRules,
  target: ImportTarget,
  world: World,
): Promise<Tally> {
  const files = await ProgressFiles.open({ flags, limits: rules.limits, target, found });
  const rejects = new RejectFiles();
  await files.resumeRejects(rejects);
  let progress: Progress | undefined;
  const sources = inputs.map(({ source }) => source);
  const progressSums = new ProgressSums(sources);
  const plans = new Map<Source, PlannedInput>();
  let names: NodeNames | undefined;
  const spare = memorySparer();
  const run = new ImportRun({
    ...rules,
    limits: files.limits,
    target,
    rejects,
    progressOf: (source) => files.of(source),
    batchesOf: (source) => plans.get(source)!.batches(files.limits, files.startOf(source), names),
    onProgress: (_source, tally) => {
      spare();
      progress?.update(progressSums.bytesRead(), tally.inserted);
    },
  });
  const forget = world.onInterrupt(() => run.interrupt());
  try {
    const label = sources.length === 1 ? sources[0]!.label : `${sources.length} files`;
    progress = startProgress({ output: world.stderr, label, totalBytes: progressSums.totalBytes, now: world.now });
    for (const input of inputs) {
      if (run.closed) break;
      const prepared = await prepare(input, target, flags, names);
      names = prepared.names;
      for (const warning of prepared.plan.warnings) warnings.add(warning);
      plans.set(input.source, prepared.plan);
      if (!files.isDone(input.source)) await run.take([input.source]);
    }
    const { tally } = run;
    progress.stop();
    await rejects.close();
    if (tally.stop === undefined) files.remove();
    if (tally.stop === undefined && flags.compact === true) await compact(target, tally);
    if (tally.stop !== undefined) {
      files.forgetUnbegun(tally.stop);
      world.stderr.write(`hedgerow: ${printable(stopText(tally.stop))}${files.adviceFor(tally)}\n`);
    }
    if (tally.rejected > 0)
      world.stderr.write(
        `hedgerow: ${tally.rejected === 1 ? '1 bad line is' : `${tally.rejected} bad lines are`} in ${rejects.paths.join(', ')}\n`,
      );
    return tally;
  } catch (error) {
    files.forgetUnbegun(undefined);
    throw error;
  } finally {
    progress?.stop();
    forget();
  }
}

/**
 * Compacts the table. A failure becomes the reason why the import stopped, so that the number of
 * inserted rows is still reported.
 */
async function compact(target: ImportTarget, tally: Tally): Promise<void> {
  try {
    await target.compact();
  } catch (error) {
    tally.stop = { why: 'failure', error };
  }
}

/** Adds up the bytes of all inputs. */
class ProgressSums {
  /** Undefined when the size of an input is unknown. */
  readonly totalBytes: number | undefined;
  readonly #sources: readonly Source[];

  constructor(sources: readonly Source[]) {
    this.#sources = sources;
    let total: number | undefined = 0;
    for (const source of sources) {
      total = total === undefined || source.totalBytes === undefined ? undefined : total + source.totalBytes;
    }
    this.totalBytes = total;
  }

  bytesRead(): number {
    let bytes = 0;
    for (const source of this.#sources) bytes += source.bytesRead();
    return bytes;
  }
}

function summaryText(inputs: readonly Input[], table: string, tally: Tally, seconds: number): string {
  const names = inputs.map(({ source }) => source.label).join(', ');
  const rate = Math.round(tally.inserted / seconds);
  return `${names} -> ${table}: inserted ${tally.inserted}, rejected ${tally.rejected}, ${seconds.toFixed(2)} s, ${rate} rows/s`;
}
