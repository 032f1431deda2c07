// Random writes to a database, for tests that compare what others make of its log.

import type { Database } from '../../src/engine/index.ts';
import type { Random } from './random.ts';
import { rowsOf } from './sim-engine.ts';

type Row = Record<string, unknown> & { id: number };

/** Makes random writes to a database: rows, transactions, catalog changes, compactions. */
export class DatabaseWriter {
  readonly #random: Random;
  #columns = 0;
  #tables = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  async step(database: Database): Promise<void> {
    const random = this.#random;
    const tables = database.tables();
    const table = tables[random.below(tables.length)]!;
    const kind = random.below(20);
    const edge = () => ({
      event_ts: random.below(40),
      members: [1 + random.below(3)],
      properties: this.#values(table),
    });
    if (kind < 5) await table.insert(edge());
    else if (kind < 7) {
      const bulk = table.bulk();
      for (let count = 1 + random.below(6); count > 0; count--) bulk.add(edge());
      await bulk.commit();
    } else if (kind < 10) await table.delete(random.below(40), [1 + random.below(3)]);
    else if (kind < 16) await this.#transaction(database);
    else if (kind === 16) await database.compact(random.chance(0.3) ? { ttlSeconds: 999_999_980 } : {});
    else if (kind === 17) {
      const name = `c${this.#columns++}`;
      await database.alterTable(table.name, { kind: 'addColumn', column: { name, type: 'INTEGER', default: 5 } });
    } else if (kind === 18) {
      const own = table.columns.columns.filter(({ name }) => name.startsWith('c'));
      if (own.length > 0)
        await database.alterTable(table.name, { kind: 'dropColumn', column: own[random.below(own.length)]!.name });
    } else if (random.chance(0.5) && tables.length < 4)
      await database.createTable({ name: `t${this.#tables++}`, bucketSeconds: 10 });
    else if (!table.isPrimary && random.chance(0.5)) await database.dropTable(table.name);
    else if (!table.isPrimary) await database.alterTable(table.name, { kind: 'renameTable', to: `t${this.#tables++}` });
  }

  async #transaction(database: Database): Promise<void> {
    const random = this.#random;
    const transaction = database.begin({ pinned: true });
    const known = new Map(database.tables().map((table) => [table, rowsOf(table) as Row[]]));
    for (let count = 1 + random.below(8); count > 0; count--) {
      const tables = [...known.keys()];
      const table = tables[random.below(tables.length)]!;
      const rows = known.get(table)!;
      const edge = { event_ts: random.below(40), members: [1 + random.below(3)], properties: this.#values(table) };
      const kind = random.below(4);
      if (kind === 0 || rows.length === 0) rows.push(transaction.insert(table, edge) as Row);
      else if (kind === 1) {
        const members = [1 + random.below(3)];
        transaction.delete(table, edge.event_ts, members);
        known.set(
          table,
          rows.filter((row) => row.event_ts !== edge.event_ts || (row.members as number[])[0] !== members[0]),
        );
      } else {
        const place = random.below(rows.length);
        const { id, event_ts: eventTs } = rows[place] as Row & { event_ts: number };
        if (kind === 2) {
          transaction.deleteRow(table, { id, eventTs });
          rows.splice(place, 1);
        } else rows[place] = transaction.updateRow(table, { id, eventTs }, edge) as Row;
      }
    }
    await transaction.commit();
  }

  #values(table: { columns: { columns: readonly { name: string }[] } }): Record<string, number> {
    const own = table.columns.columns.filter(({ name }) => name.startsWith('c'));
    return Object.fromEntries(
      own.filter(() => this.#random.chance(0.5)).map(({ name }) => [name, this.#random.below(9)]),
    );
  }
}
