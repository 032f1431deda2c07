// Fills the demo's tables: checks what is there before anything is written, then imports people,
// places, tenancies and meetings, the last ones while they are generated.

import { batchLimits } from '../import/options.ts';
import { RejectFiles } from '../import/progress/rejects.ts';
import { ImportRun, stopText } from '../import/run.ts';
import type { BatchTarget, ImportPlace, ImportTarget, NodesTarget } from '../import/targets/target.ts';
import { type Progress, startProgress } from '../progress.ts';
import type { World } from '../world.ts';
import { DemoFacts, type Subject } from './facts.ts';
import { type DemoSize, DemoTown, sourceOf } from './source.ts';
import {
  type DemoTables,
  meetingsTable,
  peopleTable,
  personLines,
  placeLines,
  placesTable,
  tenanciesTable,
  tenancyLines,
  type WantedEdges,
  type WantedNodes,
} from './tables.ts';

export interface Filled {
  readonly subject: Subject;
  readonly meetings: number;
  readonly people: number;
  readonly places: number;
  readonly tenancies: number;
  /** True if an earlier run has filled the tables. */
  readonly wasFull: boolean;
}

/** The table for the meetings has people that are numbers, as in earlier versions of the demo. */
export class EarlierDemo extends Error {}

/**
 * Fills the tables that are empty. Those with exactly the number of rows of the demo are left
 * unchanged: an earlier run is taken to have filled them. Throws EarlierDemo or an Error, before
 * anything is written, if one has other rows or another form.
 */
export async function fill(place: ImportPlace, tables: DemoTables, size: DemoSize, world: World): Promise<Filled> {
  const { edges, nodes } = await place.tableNames();
  const isThere = (names: readonly string[], { table: { name } }: WantedEdges | WantedNodes) =>
    names.some((known) => known.toLowerCase() === name.toLowerCase());
  const wanted = { meetings: meetingsTable(tables), tenancies: tenanciesTable(tables) };
  const kinds = { people: peopleTable(tables), places: placesTable(tables) };
  const before = { meetings: 0, tenancies: 0, people: 0, places: 0 };
  for (const name of ['meetings', 'tenancies'] as const)
    if (isThere(edges, wanted[name])) before[name] = await edgesIn(place, wanted[name]);
  for (const name of ['people', 'places'] as const)
    if (isThere(nodes, kinds[name])) before[name] = await nodesIn(place, kinds[name]);

  const generated = new DemoTown(size);
  const { town } = generated;
  const facts = new DemoFacts(size.people);
  if (before.meetings > 0) for (const _ of generated.meetingLines(facts));
  const counts = {
    people: town.people.length,
    places: town.places.length,
    tenancies: town.tenancies.ofHousehold.reduce((sum, { length }) => sum + length, 0),
  };
  for (const name of ['people', 'places', 'tenancies'] as const)
    if (before[name] !== 0 && before[name] !== counts[name]) throw otherRows(tables[name]);
  if (before.meetings !== 0 && before.meetings !== facts.meetings) throw otherRows(tables.meetings);

  const run = new FillRun(world);
  try {
    if (before.people === 0) await run.take(await openNodes(place, kinds.people), personLines(town));
    if (before.places === 0) await run.take(await openNodes(place, kinds.places), placeLines(town));
    if (before.tenancies === 0) await run.take(await openEdges(place, wanted.tenancies), tenancyLines(town, tables));
    if (before.meetings === 0) await run.take(await openEdges(place, wanted.meetings), generated.meetingLines(facts));
  } finally {
    run.stop();
  }
  return { ...counts, meetings: facts.meetings, subject: facts.subject(town), wasFull: before.meetings > 0 };
}

/** Imports one source after another, with one progress line. */
class FillRun {
  readonly #world: World;
  readonly #progress: Progress;
  readonly #forget: () => void;
  #run: ImportRun | undefined;
  #isInterrupted = false;
  /** Rows of the sources before. */
  #rows = 0;

  constructor(world: World) {
    this.#world = world;
    this.#progress = startProgress({ output: world.stderr, label: 'demo', totalBytes: undefined, now: world.now });
    this.#forget = this.#world.onInterrupt(() => {
      this.#isInterrupted = true;
      this.#run?.interrupt();
    });
  }

  /** Throws an Error with the reason if the import stopped. */
  async take(target: BatchTarget, lines: Iterable<string>): Promise<void> {
    this.#run = new ImportRun({
      target,
      limits: batchLimits({}),
      onError: 'stop',
      rejects: new RejectFiles(),
      rejectPathOf: () => 'demo.rejects.ndjson',
      onProgress: (_source, tally) => this.#progress.update(0, this.#rows + tally.inserted),
    });
    if (this.#isInterrupted) this.#run.interrupt();
    const { inserted, stop } = await this.#run.take([sourceOf(lines)]);
    this.#rows += inserted;
    if (stop === undefined) return;
    throw new Error(
      `${stopText(stop)} ${inserted} rows are in the table ${target.tableName}; drop the tables of the demo, or name others with --table.`,
    );
  }

  stop(): void {
    this.#forget();
    this.#progress.stop();
  }
}

function otherRows(table: string): Error {
  return new Error(`The table ${table} holds other rows already; drop it first, or name others with --table.`);
}

function otherForm(table: string): Error {
  return new Error(
    `The table ${table} has another form than that of the demo; drop it first, or name others with --table.`,
  );
}

/** Returns the number of rows of an existing table. */
async function edgesIn(place: ImportPlace, { table, columns }: WantedEdges): Promise<number> {
  const target = await place.openTable({ ...table, create: false });
  const { kinds, rowsBefore, tableName } = target;
  if (kinds === undefined && target.roles().length === 0 && target.columns().length === 0 && !table.intervals)
    throw new EarlierDemo(
      `The people in the table ${tableName} are numbers, as an earlier version of the demo made them; drop it first, or name others with --table.`,
    );
  const isSame =
    sameNames(kinds ?? [], table.nodes) &&
    target.roles().join() === table.roles.join() &&
    target.columns().some(({ isEnd }) => isEnd) === table.intervals &&
    columns.every(({ name, type }) => rowsBefore === 0 || hasColumn(target, name, type));
  if (!isSame) throw otherForm(tableName);
  return rowsBefore;
}

/** Returns the number of nodes of an existing table. */
async function nodesIn(place: ImportPlace, { table, columns }: WantedNodes): Promise<number> {
  const target = await place.openNodeTable(table, false);
  const { key, rowsBefore, tableName } = target;
  const isSame =
    key.name === table.key.name &&
    key.type === table.key.type &&
    columns.every(({ name, type }) => rowsBefore === 0 || hasColumn(target, name, type));
  if (!isSame) throw otherForm(tableName);
  return rowsBefore;
}

function sameNames(kinds: readonly { name: string }[], wanted: readonly { name: string }[]): boolean {
  return kinds.length === wanted.length && kinds.every(({ name }, at) => isSame(name, wanted[at]!.name));
}

function hasColumn(target: BatchTarget, name: string, type: string): boolean {
  return target.columns().some((column) => isSame(column.name, name) && column.type === type);
}

async function openNodes(place: ImportPlace, { table, columns }: WantedNodes): Promise<NodesTarget> {
  return withColumns(await place.openNodeTable(table, true), columns);
}

async function openEdges(place: ImportPlace, { table, columns }: WantedEdges): Promise<ImportTarget> {
  return withColumns(await place.openTable(table), columns);
}

/** Adds the columns that the table does not have. */
async function withColumns<T extends BatchTarget>(target: T, columns: WantedNodes['columns']): Promise<T> {
  for (const column of columns) if (!hasColumn(target, column.name, column.type)) await target.addColumn(column);
  return target;
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
