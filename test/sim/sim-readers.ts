// The readers of a simulation: scans, node lookups, counts, pages, open cursors, pinned snapshots,
// documents and kept answers.

import type { Scan, Snapshot, Table } from '../../src/engine/index.ts';
import type { EdgeRow } from '../../src/engine/types.ts';
import { type NaiveRequest, type NaiveRow, select, textOf } from '../model/naive-table.ts';
import { ANSWERS_UNDER_WAY, lostAnswer } from './sim-judge.ts';
import { difference } from './sim-ledger.ts';
import { type SimTable, STORES, shapeOfDatabase, shapeOfModel, Violation } from './sim-model.ts';
import { failureOf } from './sim-perils.ts';
import type { SimWorld } from './sim-world.ts';

interface Cursor {
  scan: Scan;
  what: string;
  text: string;
  wanted: string | undefined;
  atEnd: boolean;
}

interface Pin {
  snapshot: Snapshot;
  table: Table;
  name: string;
  rows: NaiveRow[] | undefined;
}

export class SimReaders {
  readonly #world: SimWorld;
  #cursors: Cursor[] = [];
  #pins: Pin[] = [];

  constructor(world: SimWorld) {
    this.#world = world;
  }

  /** Runs a read. A read that runs out of memory is not compared. */
  #reading(what: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (error instanceof Violation || this.#world.fs.stopped) throw error;
      this.#world.assertExcused(failureOf(error), what);
      this.#world.saw('read refused');
    }
  }

  #request(rows: readonly EdgeRow[]): NaiveRequest {
    const { random, source } = this.#world;
    const request: NaiveRequest = {};
    const time = (): number =>
      rows.length > 0 && random.chance(0.8) ? source.pick(rows).event_ts + random.below(3) - 1 : source.time();
    if (random.chance(0.35)) request.startTs = time();
    if (random.chance(0.35)) request.endTs = time();
    if (random.chance(0.4)) request.nodes = [source.node()];
    if (random.chance(0.3) && rows.length > 0) request.nodes = source.pick(rows).members.slice(0, 1 + random.below(3));
    if (random.chance(0.3)) request.limit = 1 + random.below(6);
    if (random.chance(0.2) && rows.length > 0) {
      const { event_ts, id } = source.pick(rows);
      request.after = { eventTs: event_ts, id };
    }
    if (random.chance(0.2)) request.where = [{ column: 'weight', low: random.below(60), high: 20 + random.below(200) }];
    return request;
  }

  read(): void {
    const world = this.#world;
    const { random } = world;
    if (random.chance(0.15)) {
      this.#shape();
      return;
    }
    if (random.chance(0.12)) {
      this.#documents();
      return;
    }
    if (random.chance(0.12)) {
      this.#answer();
      return;
    }
    const name = world.anyTable();
    if (name === undefined) return;
    const request = random.chance(0.3) ? {} : this.#request(world.ledger.model.table(name).live.map(({ row }) => row));
    const format = random.chance(0.5) ? 'json' : 'ndjson';
    const what = `read ${name} ${JSON.stringify(request)}`;
    world.note(what);
    this.#reading(what, () => {
      const lsn = world.db.lastLsn;
      const scan = world.table(name).scan({ ...request, format });
      const text = textOfScan(scan);
      const found = `${scan.rows} ${scan.hasMore} ${text}`;
      const expect = (table: SimTable): string => {
        const { rows, hasMore } = select(table.at(lsn), request);
        return `${rows.length} ${hasMore} ${textOf(rows, format)}`;
      };
      world.ledger.observe({ what, lsn, found, rule: 'wrong-read', expect: (model) => expect(model.table(name)) });
    });
    world.saw('read');
  }

  /**
   * Observes the shape of the tables. A change of tables, columns or indexes becomes visible only
   * when it is durable.
   */
  #shape(): void {
    const { db, ledger } = this.#world;
    const rule = 'wrong-shape';
    ledger.observe({ what: 'the tables', lsn: db.lastLsn, found: shapeOfDatabase(db), rule, expect: shapeOfModel });
  }

  #documents(): void {
    const { db, ledger, source } = this.#world;
    const store = source.pick(STORES);
    const found = JSON.stringify(db.documents.entries(store).sort(byText));
    const expect = (documents: ReadonlyMap<string, unknown>): string => {
      const own = [...documents].filter(([key]) => key.startsWith(`${store}/`));
      return JSON.stringify(own.map(([key, value]) => [key.slice(store.length + 1), value] as const).sort(byText));
    };
    const rule = 'wrong-documents';
    ledger.observe({ what: store, lsn: db.lastLsn, found, rule, expect: (model) => expect(model.documents) });
  }

  #answer(): void {
    const { db, ledger, keptAnswers, source } = this.#world;
    const rule = lostAnswer(this.#world);
    const known = [...ledger.model.answers.keys()];
    if (known.length === 0) return;
    const id = source.pick(known);
    const found = db.replays.find(id)?.bodyHash ?? 'none';
    const expect: Parameters<typeof ledger.observe>[0]['expect'] = (model) => {
      const isKept = model.lastAnswers(keptAnswers - ANSWERS_UNDER_WAY).some((answer) => answer.id === id);
      return isKept || found !== 'none' ? model.answers.get(id)!.bodyHash : 'none';
    };
    ledger.observe({ what: `answer ${id}`, lsn: db.lastLsn, found, rule, expect });
  }

  /** Opens a cursor, or reads the next slice of an open one. */
  cursor(): void {
    const world = this.#world;
    if (this.#cursors.length > 0 && (this.#cursors.length > 3 || world.random.chance(0.7))) {
      this.#advance();
      return;
    }
    const name = world.anyTable();
    if (name === undefined) return;
    const request = world.random.chance(0.5)
      ? {}
      : this.#request(world.ledger.model.table(name).live.map(({ row }) => row));
    const what = `cursor ${name} ${JSON.stringify(request)}`;
    world.note(what);
    this.#reading(what, () => {
      const lsn = world.db.lastLsn;
      const scan = world.table(name).scan({ ...request, format: 'ndjson' });
      const cursor: Cursor = { scan, what: `${what} at LSN ${lsn}`, text: '', wanted: undefined, atEnd: false };
      this.#cursors.push(cursor);
      world.onEnd.push(() => this.#forget(cursor));
      world.ledger.capture(lsn, (model) => {
        cursor.wanted = textOf(select(model.table(name).at(lsn), request).rows, 'ndjson');
        this.#compare(cursor);
      });
    });
  }

  #advance(): void {
    const cursor = this.#world.source.pick(this.#cursors);
    let failed = true;
    this.#reading(cursor.what, () => {
      const slice = cursor.scan.next();
      failed = false;
      if (slice !== null) cursor.text += Buffer.from(slice).toString();
      else cursor.atEnd = true;
    });
    if (failed || cursor.atEnd) this.#cursors = this.#cursors.filter((other) => other !== cursor);
    if (!failed) this.#compare(cursor);
  }

  #compare({ what, text, wanted, atEnd }: Cursor): void {
    if (wanted === undefined || !atEnd) return;
    if (text !== wanted) throw new Violation('wrong-read', `${what}:\n${difference(text, wanted)}`);
    this.#world.saw('cursor to its end');
  }

  #forget(cursor: Cursor): void {
    if (!this.#world.fs.stopped && !cursor.atEnd) cursor.scan.close();
    this.#cursors = this.#cursors.filter((other) => other !== cursor);
  }

  /** Pins a snapshot, or reads or releases a pinned one. */
  pin(): void {
    const world = this.#world;
    if (this.#pins.length > 0 && (this.#pins.length > 3 || world.random.chance(0.7))) {
      this.#readPinned();
      return;
    }
    const name = world.anyTable();
    if (name === undefined) return;
    const table = world.table(name);
    if (table.corrupt !== null) return;
    let snapshot: Snapshot;
    try {
      snapshot = world.db.snapshot(table);
    } catch (error) {
      world.assertExcused(failureOf(error), 'pin');
      return;
    }
    const pin: Pin = { snapshot, table, name, rows: undefined };
    this.#pins.push(pin);
    world.note(`pin ${name} at LSN ${snapshot.lsn}`);
    world.onEnd.push(() => {
      if (!world.fs.stopped && this.#pins.includes(pin)) snapshot.release();
      this.#pins = this.#pins.filter((other) => other !== pin);
    });
    world.ledger.capture(snapshot.lsn, (model) => {
      pin.rows = model.table(name).versionsAt(snapshot.lsn);
    });
  }

  /** Reads a pinned snapshot. Its table may have been dropped or altered since. */
  #readPinned(): void {
    const world = this.#world;
    const pin = world.source.pick(this.#pins);
    const { snapshot, table, rows, name } = pin;
    if (rows === undefined || world.altering.size > 0 || world.isTouched(table.name)) return;
    const what = `pinned read of ${name} at LSN ${snapshot.lsn}`;
    this.#reading(what, () => {
      const request = world.random.chance(0.5) ? {} : this.#request(rows.map(({ row }) => row));
      const text = textOfScan(table.scan({ ...request, format: 'json' }, snapshot));
      const now = rows.map(({ row }) => row);
      const wanted = textOf(select(now, request).rows, 'json');
      if (text !== wanted)
        throw new Violation('wrong-read', `${what} ${JSON.stringify(request)}:\n${difference(text, wanted)}`);
      world.saw('pinned read');
    });
    if (world.random.chance(0.6)) return;
    this.#pins = this.#pins.filter((other) => other !== pin);
    snapshot.release();
  }

  figures(): void {
    const { db, ledger } = this.#world;
    // Mostly counts while nothing is in flight. The count must then be exact, which reveals rows
    // that were counted before they were acknowledged.
    if (ledger.unsettled.size > 0 && this.#world.random.chance(0.8)) return;
    // The count does not include a table that could not be read.
    if (db.tables().some(({ corrupt }) => corrupt !== null)) return;
    this.#reading('health', () => {
      const found = String(db.health().total_records);
      const expect = (model: { records: number }): string => String(model.records);
      const rule = ledger.unsettled.size > 0 ? 'count-under-way' : 'wrong-count';
      ledger.observe({ what: 'total_records', lsn: db.lastLsn, found, rule, expect });
    });
  }
}

function textOfScan(scan: Scan): string {
  const slices: Uint8Array[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(slice.slice());
  return Buffer.concat(slices).toString();
}

function byText(left: readonly [string, unknown], right: readonly [string, unknown]): number {
  return left[0] < right[0] ? -1 : left[0] > right[0] ? 1 : 0;
}
