// Models naively what sessions see: every version of every row, with the LSNs at which it was
// created and removed. A transaction works on a copy of the state in which it began.

export interface Row {
  readonly id: number;
  readonly event_ts: number;
  /** The members in ascending order. */
  readonly members: readonly number[];
  readonly n: number | null;
  readonly note: string | null;
}

/** A version is visible to readers at an LSN from `born` up to, but not including, `died`. */
export interface Version {
  readonly row: Row;
  readonly born: number;
  died: number;
}

export class ModelTable {
  readonly name: string;
  versions: Version[] = [];
  /** LSN of the last change to the table's columns. */
  shapeLsn = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Returns the versions visible at an LSN, by row id. */
  at(lsn: number): Map<number, Version> {
    const seen = this.versions.filter(({ born, died }) => born <= lsn && died > lsn);
    return new Map(seen.map((version) => [version.row.id, version]));
  }

  /** Returns the versions of the newest state, durable or not. */
  live(): Version[] {
    return this.versions.filter(({ died }) => died === Infinity);
  }
}

export function isEqualEdge(row: Row, eventTs: number, members: readonly number[]): boolean {
  return row.event_ts === eventTs && row.members.join() === members.join();
}

interface Copy {
  readonly began: ReadonlyMap<number, Version>;
  readonly rows: Map<number, Row>;
  /** Ids of rows that the transaction created or changed. */
  readonly changed: Set<number>;
}

export class ModelTransaction {
  readonly lsn: number;
  /** Number of log operations in the commit of this transaction. */
  operations = 0;
  /** Versions that existed when the transaction began and that it has changed or removed by id. */
  readonly touched = new Set<Version>();
  readonly written = new Set<ModelTable>();
  readonly #copies: ReadonlyMap<ModelTable, Copy>;

  constructor(tables: readonly ModelTable[], lsn: number) {
    this.lsn = lsn;
    this.#copies = new Map(
      tables.map((table) => {
        const began = table.at(lsn);
        const rows = new Map([...began].map(([id, { row }]) => [id, row]));
        return [table, { began, rows, changed: new Set() }];
      }),
    );
  }

  rows(table: ModelTable): Row[] {
    return [...this.#copies.get(table)!.rows.values()];
  }

  insert(table: ModelTable, row: Row): void {
    this.#put(table, row);
    this.operations += 1;
  }

  /** Replaces a row. In the log, an update is a removal and an insert. */
  update(table: ModelTable, row: Row): void {
    this.#touch(table, row.id);
    this.#put(table, row);
    this.operations += 2;
  }

  remove(table: ModelTable, id: number): void {
    this.#touch(table, id);
    this.#copies.get(table)!.rows.delete(id);
    this.operations += 1;
  }

  /** Removes the rows that have this time and these members. Returns how many rows were removed. */
  removeEqual(table: ModelTable, eventTs: number, members: readonly number[]): number {
    const equal = this.rows(table).filter((row) => isEqualEdge(row, eventTs, members));
    for (const { id } of equal) this.remove(table, id);
    this.operations += 1 - equal.length;
    this.written.add(table);
    return equal.length;
  }

  #put(table: ModelTable, row: Row): void {
    const { rows, changed } = this.#copies.get(table)!;
    rows.set(row.id, row);
    changed.add(row.id);
    this.written.add(table);
  }

  #touch(table: ModelTable, id: number): void {
    const version = this.#copies.get(table)!.began.get(id);
    if (version !== undefined) this.touched.add(version);
    this.written.add(table);
  }

  /** Yields the rows of a table that the commit stores. */
  *made(table: ModelTable): Generator<Row> {
    const { rows, changed } = this.#copies.get(table)!;
    for (const id of changed) {
      const row = rows.get(id);
      if (row !== undefined) yield row;
    }
  }
}

export class ModelDatabase {
  readonly tables: readonly ModelTable[];
  /** LSN of the newest commit, durable or not. */
  lsn: number;

  constructor(names: readonly string[], lsn: number) {
    this.tables = names.map((name) => new ModelTable(name));
    this.lsn = lsn;
  }

  begin(lsn: number): ModelTransaction {
    return new ModelTransaction(this.tables, lsn);
  }

  /**
   * Commits a transaction. The first committer of a row wins. Returns the last LSN of the commit.
   */
  commit(transaction: ModelTransaction): number | 'conflict' {
    const { touched, written, operations } = transaction;
    const isLate = [...touched].some(({ died }) => died !== Infinity);
    const isReshaped = [...written].some((table) => table.shapeLsn > transaction.lsn);
    if (isLate || isReshaped) return 'conflict';
    this.lsn += operations;
    for (const version of touched) version.died = this.lsn;
    for (const table of this.tables)
      for (const row of transaction.made(table)) table.versions.push({ row, born: this.lsn, died: Infinity });
    return this.lsn;
  }

  /** Commits one edge. */
  insert(table: ModelTable, row: Row): number {
    table.versions.push({ row, born: ++this.lsn, died: Infinity });
    return this.lsn;
  }

  /** Commits the removal of every live edge that has this time and these members. */
  removeEqual(table: ModelTable, eventTs: number, members: readonly number[]): { lsn: number; matched: number } {
    const lsn = ++this.lsn;
    const equal = table.live().filter(({ row }) => isEqualEdge(row, eventTs, members));
    for (const version of equal) version.died = lsn;
    return { lsn, matched: equal.length };
  }

  /**
   * Forgets the versions that died at or before `lsn`, because no transaction can begin before
   * `lsn` any more.
   */
  forgetBefore(lsn: number): void {
    for (const table of this.tables) table.versions = table.versions.filter(({ died }) => died > lsn);
  }
}
