// Runs an import in groups: the inputs with nodes into a node table, then the inputs with edges.

import { type Progress, startProgress } from '../progress.ts';
import { printable } from '../table-text.ts';
import type { World } from '../world.ts';
import type { Input } from './inputs.ts';
import type { Members } from './node-keys.ts';
import { chosenKind, nodeTableName, wantedNodes } from './nodes/wanted-nodes.ts';
import type { ImportFlags } from './options.ts';
import type { PlannedInput } from './planned-input.ts';
import { prepare, prepareNodes } from './prepare.ts';
import { type FoundProgress, ProgressFiles } from './progress/progress-files.ts';
import { RejectFiles } from './progress/rejects.ts';
import { memorySparer } from './progress/spare-memory.ts';
import { ImportRun, type RunOptions, stopText, type Tally } from './run.ts';
import type { Source } from './source.ts';
import type { BatchTarget, ImportPlace, ImportTarget, NodesTarget, TargetTable } from './targets/target.ts';

/** Inputs with one target. */
export interface Group {
  readonly inputs: readonly Input[];
  readonly target: BatchTarget;
  /** The target of a group with nodes; undefined for edges. */
  readonly nodes: NodesTarget | undefined;
  /** Prepares the target for an input of the group. */
  readonly prepare: (input: Input) => Promise<{ plan: PlannedInput; members: Members | undefined }>;
  /** Undefined: the import stopped before this group. */
  tally: Tally | undefined;
  seconds: number;
}

/**
 * Opens the targets of the inputs and creates missing tables. Throws UsageError, or the errors of
 * the place.
 */
export async function openGroups(
  place: ImportPlace,
  inputs: readonly Input[],
  wanted: TargetTable,
  flags: ImportFlags,
): Promise<Group[]> {
  const create = flags.create === true;
  const edges = inputs.filter(({ holds }) => holds === 'edges');
  const given = inputs.filter(({ holds, format }) => holds === 'nodes' && format !== 'hif');
  const newTables = wantedNodes(edges, given, wanted.roles, flags);
  const target = edges.length === 0 ? undefined : await place.openTable({ ...wanted, nodes: newTables });
  // In a table of numbers, nodes have no attributes; the plan of the edges says what is lost.
  const inside = inputs.filter(({ holds, format }) => holds === 'nodes' && format === 'hif');
  const nodes = [...given, ...(target?.kinds === undefined ? [] : inside)];
  const groups: Group[] = [];
  if (nodes.length > 0 || (target !== undefined && flags.nodeTable !== undefined)) {
    const name = target === undefined ? nodeTableName(flags)! : chosenKind(target, flags);
    const [key] = nodes.flatMap(({ looked }) => looked.plan([]).key ?? []);
    const type = key?.type === 'INTEGER' ? ('INTEGER' as const) : ('TEXT' as const);
    if (nodes.length > 0) {
      const table = await place.openNodeTable({ name, key: { name: key?.name ?? 'name', type } }, create);
      groups.push(nodeGroup(nodes, table, create));
    }
  }
  if (target !== undefined) groups.push(edgeGroup(edges, target, flags));
  return groups;
}

function nodeGroup(inputs: readonly Input[], target: NodesTarget, create: boolean): Group {
  return {
    inputs,
    target,
    nodes: target,
    prepare: async (input) => ({ plan: await prepareNodes(input, target, create), members: undefined }),
    tally: undefined,
    seconds: 0,
  };
}

function edgeGroup(inputs: readonly Input[], target: ImportTarget, flags: ImportFlags): Group {
  let members: Members | undefined;
  return {
    inputs,
    target,
    nodes: undefined,
    async prepare(input) {
      const prepared = await prepare(input, target, flags, members);
      members = prepared.members;
      return prepared;
    },
    tally: undefined,
    seconds: 0,
  };
}

export interface RunRules extends Pick<RunOptions, 'limits' | 'onError' | 'maxRejects' | 'rejectPathOf'> {
  readonly found: readonly FoundProgress[];
  /** Collects the warnings about the inputs that are read. */
  readonly warnings: Set<string>;
  readonly startedMs: number;
}

/** Imports the groups in order, and fills in their tallies. Ends after a group that stopped. */
export async function runGroups(
  groups: readonly Group[],
  { found, startedMs, ...rules }: RunRules,
  flags: ImportFlags,
  world: World,
): Promise<void> {
  const inputs = groups.flatMap((group) => group.inputs);
  const files = await ProgressFiles.open({
    flags,
    limits: rules.limits,
    targetOf: (input) => groups.find((group) => group.inputs.includes(input))!.target,
    found: found.filter(({ input }) => inputs.includes(input)),
  });
  const rejects = new RejectFiles();
  await files.resumeRejects(rejects);
  const sums = new ProgressSums(inputs.map(({ source }) => source));
  let progress: Progress | undefined;
  let begunMs = startedMs;
  try {
    const label = inputs.length === 1 ? inputs[0]!.source.label : `${inputs.length} files`;
    progress = startProgress({ output: world.stderr, label, totalBytes: sums.totalBytes, now: world.now });
    let before = 0;
    for (const group of groups) {
      const update = (inserted: number) => progress?.update(sums.bytesRead(), before + inserted);
      group.tally = await runGroup(group, { ...rules, files, rejects, update }, world);
      group.seconds = Math.max(0.001, (world.now() - begunMs) / 1000);
      begunMs = world.now();
      before += group.tally.inserted;
      if (group.tally.stop !== undefined) break;
    }
    progress.stop();
    await rejects.close();
    await end(groups, files, flags, world);
    const rejected = groups.reduce((sum, { tally }) => sum + (tally?.rejected ?? 0), 0);
    if (rejected > 0)
      world.stderr.write(
        `hedgerow: ${rejected === 1 ? '1 bad line is' : `${rejected} bad lines are`} in ${rejects.paths.join(', ')}\n`,
      );
  } catch (error) {
    files.forgetUnbegun(undefined);
    throw error;
  } finally {
    progress?.stop();
  }
}

interface GroupRules extends Omit<RunRules, 'found' | 'startedMs'> {
  readonly files: ProgressFiles;
  readonly rejects: RejectFiles;
  readonly update: (inserted: number) => void;
}

async function runGroup(
  { inputs, target, prepare: prepared }: Group,
  { files, rejects, update, warnings, ...rules }: GroupRules,
  world: World,
): Promise<Tally> {
  const plans = new Map<Source, Awaited<ReturnType<Group['prepare']>>>();
  const spare = memorySparer();
  const run = new ImportRun({
    ...rules,
    limits: files.limits,
    target,
    rejects,
    progressOf: (source) => files.of(source),
    batchesOf: (source) => {
      const { plan, members } = plans.get(source)!;
      return plan.batches(files.limits, files.startOf(source), members);
    },
    onProgress: (_source, tally) => {
      spare();
      update(tally.inserted);
    },
  });
  const forget = world.onInterrupt(() => run.interrupt());
  try {
    for (const input of inputs) {
      if (run.closed) break;
      const planned = await prepared(input);
      for (const warning of planned.plan.warnings) warnings.add(warning);
      plans.set(input.source, planned);
      if (!files.isDone(input.source)) await run.take([input.source]);
    }
    return run.tally;
  } finally {
    forget();
  }
}

/** Compacts what is complete, or says why the import stopped and how to go on. */
async function end(groups: readonly Group[], files: ProgressFiles, flags: ImportFlags, world: World): Promise<void> {
  const isComplete = groups.every(({ tally }) => tally !== undefined && tally.stop === undefined);
  if (isComplete) files.remove();
  if (isComplete && flags.compact === true) for (const { target, tally } of groups) await compact(target, tally!);
  for (const { tally } of groups) {
    if (tally?.stop === undefined) continue;
    files.forgetUnbegun(tally.stop);
    world.stderr.write(`hedgerow: ${printable(stopText(tally.stop))}${files.adviceFor(tally)}\n`);
  }
}

/**
 * Compacts a table. A failure becomes the reason why the import stopped, so that the number of
 * inserted rows is still reported.
 */
async function compact(target: BatchTarget, tally: Tally): Promise<void> {
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
