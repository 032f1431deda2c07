// `hedgerow demo`: generates a town of made-up people who move and meet, stores them with some
// rules, serves them, and tells the user what to try first.

import { resolve } from 'node:path';
import { HedgerowClient } from '../../client/index.ts';
import { openPlace, type TargetFlags, tableOf } from '../import/options.ts';
import { errorText } from '../run/error-text.ts';
import { urlOf } from '../server-address.ts';
import { integerFlag, reportFailure, UsageError, type World } from '../world.ts';
import { EarlierDemo, type Filled, fill } from './fill.ts';
import { addressWith, consoleAddress, invitationText } from './invitation.ts';
import { openPage } from './open-page.ts';
import { type OwnServer, startOwnServer } from './own-server.ts';
import { DEMO_RULES } from './rules.ts';
import type { DemoSize } from './source.ts';
import { type DemoTables, demoTables } from './tables.ts';

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

const DEFAULTS: DemoSize = { people: 3000, days: 28, seed: 1 };
const LEAST_PEOPLE = 20;
const MOST_PEOPLE = 1_000_000;
const MOST_DAYS = 3650;
/** Of the name of a table. */
const MOST_LETTERS = 64;
/** Directory of the demo's own server, inside the current directory. */
const DEFAULT_DIR = 'hedgerow-demo';
const RULES_TEXT = `${DEMO_RULES.length} rules are stored: ${DEMO_RULES.map(({ id }) => id.replace('rule:', '')).join(', ')}.`;

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
  const tables = tablesOf(flags);
  const filled = await filledOrEarlier({ ...flags, data: dir }, tables, size, world);
  const server = await startOwnServer(dir, port === undefined ? undefined : String(port), world);
  const { url, key } = server;
  try {
    if (filled !== undefined) await storeRules(url, key);
    // From here on Ctrl-C shuts the demo down cleanly, even while the instructions are being
    // printed.
    const stopped = flags.serve === false ? undefined : interrupted(world);
    const end = stopped === undefined ? 'The last line says how to serve it.' : 'Ctrl-C stops the server.';
    const step = filled && { url, tables, subject: filled.subject, key };
    const address =
      step === undefined
        ? addressWith(`MATCH (m:${tables.meetings})\nRETURN *\nLIMIT 25`, url, key)
        : consoleAddress(step);
    const lines = step === undefined ? earlierText(name, tables) : [RULES_TEXT];
    lines.push('', ...placeText(server, address, step !== undefined));
    lines.push(`All of it is in ${name}; remove that directory when you have seen enough. ${end}`);
    if (step !== undefined) lines.push(...invitationText(step));
    world.stdout.write(`${lines.join('\n')}\n\n`);
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

/**
 * Fills the tables. Resolves with undefined if an earlier version of the demo filled them: its data
 * is served as it is.
 */
async function filledOrEarlier(
  flags: DemoFlags,
  tables: DemoTables,
  size: DemoSize,
  world: World,
): Promise<Filled | undefined> {
  try {
    return await fillPlace(flags, tables, size, world);
  } catch (error) {
    if (error instanceof EarlierDemo && flags.serve !== false) return undefined;
    throw error;
  }
}

function earlierText(name: string, { meetings }: DemoTables): string[] {
  return [
    `The people in the table ${meetings} of ${name} are numbers, as an earlier version of the demo made them. They are served as they are.`,
    `For the town of people with names, name another directory with --data, or other tables with --table town.`,
  ];
}

function placeText({ url, key }: OwnServer, address: string, drawsPerson: boolean): string[] {
  const drawn = drawsPerson ? 'three days of one person' : 'some of the meetings';
  return [`Console:  ${url}/`, `Key:      ${key}`, `Signed in, with ${drawn} drawn:`, `  ${address}`];
}

/** Fills a server that is already running. The key for that server is not printed. */
async function atServer(given: string, flags: DemoFlags, size: DemoSize, world: World): Promise<number> {
  if (flags.port !== undefined || flags.open === true || flags.serve === false)
    throw new UsageError("--port, --open and --no-serve are for a server of the demo's own, not for --url.");
  const tables = tablesOf(flags);
  const { subject } = await fillPlace(flags, tables, size, world);
  const url = urlOf(given);
  await storeRules(url, flags.apiKey);
  const key = flags.apiKey === undefined ? undefined : '$HEDGEROW_API_KEY';
  const step = { url, tables, subject, key };
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

function tablesOf(flags: DemoFlags): DemoTables {
  const tables = demoTables(tableOf(flags).name);
  const longest = Math.max(...Object.values(tables).map((name) => name.length));
  if (longest > MOST_LETTERS)
    throw new UsageError(
      `--table is too long: the names of the other tables, such as ${tables.tenancies}, begin with it, and a name has at most ${MOST_LETTERS} letters.`,
    );
  return tables;
}

async function fillPlace(flags: DemoFlags, tables: DemoTables, size: DemoSize, world: World): Promise<Filled> {
  const place = await openPlace(flags, world);
  try {
    const filled = await fill(place, tables, size, world);
    world.stdout.write(`${filledText(filled, tables, size)}\n`);
    return filled;
  } finally {
    await place.close();
  }
}

function filledText(filled: Filled, tables: DemoTables, { days, seed }: DemoSize): string {
  const { meetings, people, places, tenancies, wasFull } = filled;
  const already = wasFull ? ' already' : '';
  return [
    `${meetings} meetings of ${people} people in ${days} days (seed ${seed}) are in the table ${tables.meetings}${already}.`,
    `The people are nodes of ${tables.people}, and ${places} places are nodes of ${tables.places}.`,
    `${tenancies} tenancies in the table ${tables.tenancies} say who lived in which home from when to when.`,
  ].join('\n');
}
