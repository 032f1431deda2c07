// `hedgerow demo`: generates some weeks of meetings between made-up people, stores them with two
// rules, serves them, and tells the user what to try first.

import { resolve } from 'node:path';
import { HedgerowClient } from '../../client/index.ts';
import { batchLimits, openPlace, type TargetFlags, tableOf } from '../import/options.ts';
import { RejectFiles } from '../import/progress/rejects.ts';
import { ImportRun, stopText } from '../import/run.ts';
import type { Source } from '../import/source.ts';
import type { ImportTarget } from '../import/targets/target.ts';
import { startProgress } from '../progress.ts';
import { errorText } from '../run/error-text.ts';
import { urlOf } from '../server-address.ts';
import { integerFlag, reportFailure, UsageError, type World } from '../world.ts';
import { DemoFacts } from './facts.ts';
import { consoleAddress, invitationText } from './invitation.ts';
import { type Meeting, meetings } from './meetings.ts';
import { openPage } from './open-page.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';
import { Random } from './random.ts';
import { DEMO_RULES } from './rules.ts';
import { buildTown } from './town.ts';

export interface DemoFlags extends TargetFlags {
  people?: string | undefined;
  days?: string | undefined;
  seed?: string | undefined;
  /** Port of the demo's own server. */
  port?: string | undefined;
  /** Show the console in a browser. */
  open?: boolean | undefined;
  /** False: store everything, then stop. */
  serve?: boolean | undefined;
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
/** Directory of the demo's own server, inside the current directory. */
const DEFAULT_DIR = 'hedgerow-demo';
/** One hour, so that the meetings of a day fall into about twenty buckets. */
const BUCKET_SECONDS = '3600';
const MEETINGS_A_CHUNK = 1000;
const RULES_TEXT = `${DEMO_RULES.length} rules are stored: ${DEMO_RULES.map(({ id }) => id).join(' and ')}.`;

/**
 * Resolves with the exit code: 0 on success, 1 on failure, 2 for a wrong call. Without `--url` and
 * `--no-serve`, resolves only after the demo's own server has been stopped.
 */
export async function demoCommand(flags: DemoFlags, world: World): Promise<number> {
  try {
    const size = sizeOf(flags);
    const { url } = flags;
    return url === undefined ? await atOwnServer(flags, size, world) : await atServer(url, flags, size, world);
  } catch (error) {
    return reportFailure(world, error);
  }
}

async function atOwnServer(flags: DemoFlags, size: DemoSize, world: World): Promise<number> {
  const port = integerFlag('--port', flags.port, 0, 65_535);
  if (flags.open === true && flags.serve === false)
    throw new UsageError('--open shows the console of the server; leave out --no-serve.');
  const name = flags.data ?? DEFAULT_DIR;
  const dir = resolve(world.cwd, name);
  const { facts, tableName } = await fill({ ...flags, data: dir }, size, world);
  const server = await startOwnServer(dir, port === undefined ? undefined : String(port), world);
  const { url, key } = server;
  try {
    await storeRules(url, key);
    // From here on Ctrl-C shuts the demo down cleanly, even while the instructions are being
    // printed.
    const stopped = flags.serve === false ? undefined : interrupted(world);
    const step = { url, table: tableName, person: facts.busiest, key };
    const address = consoleAddress(step);
    const place = placeText(server, address, name, stopped !== undefined);
    world.stdout.write(`${[...place, ...invitationText(step), ''].join('\n')}\n`);
    if (flags.open === true && !(await openPage(address)))
      world.stderr.write('hedgerow: no browser could be started; open the address above yourself.\n');
    await stopped;
  } finally {
    await server.close('demo');
  }
  if (flags.serve === false)
    world.stdout.write(`Serve it again: hedgerow serve --data ${name} --port ${new URL(url).port}\n`);
  return 0;
}

function placeText({ url, key }: OwnServer, address: string, name: string, isServing: boolean): string[] {
  const end = isServing ? 'Ctrl-C stops the server.' : 'The last line says how to serve it.';
  return [
    RULES_TEXT,
    '',
    `Console:  ${url}/`,
    `Key:      ${key}`,
    'Signed in, with three days of one person drawn:',
    `  ${address}`,
    `All of it is in ${name}; remove that directory when you have seen enough. ${end}`,
  ];
}

/** Fills a server that is already running. The key for that server is not printed. */
async function atServer(given: string, flags: DemoFlags, size: DemoSize, world: World): Promise<number> {
  if (flags.port !== undefined || flags.open === true || flags.serve === false)
    throw new UsageError("--port, --open and --no-serve are for a server of the demo's own, not for --url.");
  const { facts, tableName } = await fill(flags, size, world);
  const url = urlOf(given);
  await storeRules(url, flags.apiKey);
  const key = flags.apiKey === undefined ? undefined : '$HEDGEROW_API_KEY';
  const step = { url, table: tableName, person: facts.busiest, key };
  const place = [RULES_TEXT, '', `Console:  ${url}/`, `  ${consoleAddress({ ...step, key: undefined })}`];
  world.stdout.write(`${[...place, ...invitationText(step), ''].join('\n')}\n`);
  return 0;
}

async function storeRules(url: string, apiKey: string | undefined): Promise<void> {
  const client = new HedgerowClient({ url, ...(apiKey === undefined ? {} : { apiKey }) });
  try {
    for (const rule of DEMO_RULES) await client.rules.put(rule);
  } catch (error) {
    throw new Error(errorText(error, '').trimEnd());
  }
}

function interrupted(world: World): Promise<string> {
  return new Promise((stop) => {
    world.onInterrupt(stop);
  });
}

function sizeOf(flags: DemoFlags): DemoSize {
  return {
    people: integerFlag('--people', flags.people, LEAST_PEOPLE, MOST_PEOPLE) ?? DEFAULTS.people,
    days: integerFlag('--days', flags.days, 1, MOST_DAYS) ?? DEFAULTS.days,
    seed: integerFlag('--seed', flags.seed, 0, 2 ** 32 - 1) ?? DEFAULTS.seed,
  };
}

interface Filled {
  facts: DemoFacts;
  tableName: string;
}

/**
 * Generates the meetings, and imports them into an empty table. A table with exactly that number of
 * rows is left unchanged: an earlier run is taken to have filled it. Throws if it has another
 * number of rows.
 */
async function fill(flags: DemoFlags, size: DemoSize, world: World): Promise<Filled> {
  const table = { table: flags.table ?? DEFAULT_TABLE, createTable: true, bucketSeconds: BUCKET_SECONDS };
  const wanted = tableOf({ ...flags, ...table });
  const place = await openPlace(flags, world);
  const facts = new DemoFacts(size.people);
  try {
    const target = await place.openTable(wanted);
    const { tableName, rowsBefore } = target;
    const { people, days, seed } = size;
    const what = `meetings of ${people} people in ${days} days (seed ${seed})`;
    if (rowsBefore > 0) {
      for await (const _ of demoChunks(size, facts));
      if (rowsBefore !== facts.meetings)
        throw new Error(
          `The table ${tableName} holds other rows already; drop it first, or name another with --table.`,
        );
      world.stdout.write(`${rowsBefore} ${what} are in the table ${tableName} already.\n`);
    } else {
      const inserted = await importMeetings(target, demoSource(size, facts), world);
      world.stdout.write(`${inserted} ${what} are in the table ${tableName}.\n`);
    }
    return { facts, tableName };
  } finally {
    await place.close();
  }
}

/**
 * Returns the number of inserted meetings. Throws an Error with the reason if the import stopped.
 */
async function importMeetings(target: ImportTarget, source: Source, world: World): Promise<number> {
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
  const { inserted, stop } = await run.take([source]);
  forget();
  progress.stop();
  if (stop === undefined) return inserted;
  throw new Error(
    `${stopText(stop)} ${inserted} meetings are in the table ${target.tableName}; drop it, or name another with --table.`,
  );
}

/** Wraps the generated meetings as an input of an import. */
function demoSource(size: DemoSize, facts: DemoFacts): Source {
  const chunks = demoChunks(size, facts);
  return {
    path: 'demo',
    label: 'demo',
    totalBytes: undefined,
    bytesRead: () => 0,
    packed: () => false,
    decodedFrom: () => undefined,
    chunks,
    close() {},
  };
}

/**
 * Generates NDJSON text, and adds each meeting to `facts`. The same size and seed always give the
 * same bytes.
 */
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
