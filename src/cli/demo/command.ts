// `hedgerow demo`: makes some weeks of meetings between made-up people, imports them and says what to try first.

import { batchLimits, DEFAULT_URL, openTarget, type TargetFlags } from '../import/options.ts';
import { RejectFiles } from '../import/rejects.ts';
import { ImportRun, stopText } from '../import/run.ts';
import type { Source } from '../import/source.ts';
import type { ImportTarget } from '../import/target.ts';
import { startProgress } from '../progress.ts';
import { integerFlag, reportFailure, type World } from '../world.ts';
import { DemoFacts, invitationText } from './facts.ts';
import { type Meeting, meetings } from './meetings.ts';
import { Random } from './random.ts';
import { buildTown } from './town.ts';

export interface DemoFlags extends TargetFlags {
  people?: string | undefined;
  days?: string | undefined;
  seed?: string | undefined;
}

export interface DemoSize {
  people: number;
  days: number;
  seed: number;
}

const DEFAULTS: DemoSize = { people: 3000, days: 28, seed: 1 };
const LEAST_PEOPLE = 20;
const MOST_PEOPLE = 1_000_000;
const MOST_DAYS = 3650;
const DEFAULT_TABLE = 'meetings';
/** An hour: meetings of a day fall into some twenty buckets. */
const BUCKET_SECONDS = '3600';
const MEETINGS_A_CHUNK = 1000;

/** Resolves with the exit code: 0, 1 on failure, 2 for a wrong call. */
export async function demoCommand(flags: DemoFlags, world: World): Promise<number> {
  try {
    const size = sizeOf(flags);
    const table = { table: flags.table ?? DEFAULT_TABLE, createTable: true, bucketSeconds: BUCKET_SECONDS };
    const target = await openTarget({ ...flags, ...table }, world);
    try {
      return await fill(target, size, flags, world);
    } finally {
      await target.close();
    }
  } catch (error) {
    return reportFailure(world, error);
  }
}

function sizeOf(flags: DemoFlags): DemoSize {
  return {
    people: integerFlag('--people', flags.people, LEAST_PEOPLE, MOST_PEOPLE) ?? DEFAULTS.people,
    days: integerFlag('--days', flags.days, 1, MOST_DAYS) ?? DEFAULTS.days,
    seed: integerFlag('--seed', flags.seed, 0, 2 ** 32 - 1) ?? DEFAULTS.seed,
  };
}

async function fill(target: ImportTarget, size: DemoSize, flags: DemoFlags, world: World): Promise<number> {
  if (target.rowsBefore > 0) {
    throw new Error(`The table ${target.tableName} holds rows already; drop it first, or name another with --table.`);
  }
  const facts = new DemoFacts(size.people);
  const progress = startProgress({ output: world.stderr, label: 'demo', totalBytes: undefined, now: world.now });
  const run = new ImportRun({
    target,
    limits: batchLimits({}),
    onError: 'stop',
    rejects: new RejectFiles(),
    rejectPathOf: () => 'demo.rejects.ndjson',
    onProgress: (_source, tally) => progress.update(0, tally.inserted),
  });
  const forget = world.onInterrupt(() => run.interrupt());
  const { inserted, stop } = await run.take([demoSource(size, facts)]);
  forget();
  progress.stop();
  const { people, days, seed } = size;
  const counts = `${inserted} meetings of ${people} people in ${days} days (seed ${seed})`;
  world.stdout.write(`${counts} are in the table ${target.tableName}.\n`);
  if (stop !== undefined) {
    world.stderr.write(`hedgerow: ${stopText(stop)}\n`);
    return 1;
  }
  const url = flags.url ?? DEFAULT_URL;
  const withKey = flags.apiKey !== undefined;
  const invitation = { url, table: target.tableName, withKey, dir: flags.data };
  world.stdout.write(`${invitationText(facts, invitation).join('\n')}\n`);
  return 0;
}

/** The meetings as an input of an import. */
function demoSource(size: DemoSize, facts: DemoFacts): Source {
  const chunks = demoChunks(size, facts);
  return { path: 'demo', label: 'demo', totalBytes: undefined, bytesRead: () => 0, chunks, close() {} };
}

/** NDJSON text; the same bytes for the same size and seed. */
export async function* demoChunks({ people, days, seed }: DemoSize, facts: DemoFacts): AsyncGenerator<Buffer> {
  const random = new Random(seed);
  const town = buildTown(people, random);
  let lines: string[] = [];
  for (const meeting of meetings(town, days, random)) {
    facts.see(meeting);
    lines.push(lineOf(meeting));
    if (lines.length < MEETINGS_A_CHUNK) continue;
    yield Buffer.from(lines.join(''));
    lines = [];
  }
  yield Buffer.from(lines.join(''));
}

function lineOf(meeting: Meeting): string {
  return `${JSON.stringify(meeting)}\n`;
}
