// Opens a database with a copy root next to it, and runs statements that use both.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, type EdgeInput, openDatabase, type TableInput } from '../../src/engine/index.ts';
import type { HedgerowError } from '../../src/errors.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import { type ExecuteOptions, Statements } from '../../src/query/statements.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

export interface Answer {
  columns: readonly string[];
  rows: Record<string, unknown>[];
}

export class CopyPlace {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), 'hedgerow-copy-')));
  readonly root = join(this.home, 'files');
  readonly database: Database;
  /** Number of steps run through `slices` so far. */
  steps = 0;
  /** Called before every step. */
  beforeStep: () => void = () => {};
  #ids = 0;

  private constructor(database: Database) {
    this.database = database;
    mkdirSync(this.root);
  }

  static async open(): Promise<CopyPlace> {
    const dir = mkdtempSync(join(tmpdir(), 'hedgerow-copy-data-'));
    return new CopyPlace(await openDatabase({ dir, memoryBudgetMb: 64 }));
  }

  /** Creates a table with columns of every type, one of which has a default. */
  table(name: string, more: Partial<TableInput> = {}) {
    return this.database.createTable({
      name,
      columns: [
        { name: 'n', type: 'INTEGER' },
        { name: 'score', type: 'REAL' },
        { name: 'place', type: 'TEXT' },
        { name: 'ok', type: 'BOOLEAN' },
        { name: 'kind', type: 'TEXT', default: 'plain' },
      ],
      ...more,
    });
  }

  async insert(name: string, edges: readonly EdgeInput[]): Promise<void> {
    const bulk = this.database.table(name).bulk();
    for (const edge of edges) bulk.add(edge);
    await bulk.commit();
  }

  statements(options: { copyRoot?: string | undefined; fs?: Fs } = {}): Statements {
    return new Statements({
      database: this.database,
      now: () => 0,
      nowUs: () => 0,
      newId: () => `id-${++this.#ids}`,
      transactionIdleSeconds: 30,
      copyRoot: this.root,
      fs: nodeFs,
      ...options,
    });
  }

  async run(
    text: string,
    parameters: ParameterValues = {},
    more: Partial<ExecuteOptions> = {},
    statements = this.statements(),
  ): Promise<Answer> {
    const slices = async (step: () => boolean): Promise<void> => {
      do {
        this.beforeStep();
        this.steps++;
        await new Promise((resolve) => setImmediate(resolve));
      } while (step());
    };
    const result = await statements.execute(statements.prepare(text), { parameters, session: 's', slices, ...more });
    const rows: Record<string, unknown>[] = [];
    for (const chunk of result.steps) {
      for (let row = 0; row < (chunk?.count ?? 0); row++)
        rows.push(Object.fromEntries(result.columns.map((name, place) => [name, valueAt(chunk!.items[place]!, row)])));
    }
    return { columns: result.columns, rows };
  }

  /** Returns the error with which a statement fails. */
  async refused(
    text: string,
    parameters: ParameterValues = {},
    statements = this.statements(),
  ): Promise<HedgerowError> {
    try {
      await this.run(text, parameters, {}, statements);
    } catch (error) {
      return error as HedgerowError;
    }
    throw new Error(`nothing was wrong with ${text}`);
  }

  /** Returns the rows of a table, without their ids. */
  async rowsOf(name: string): Promise<Record<string, unknown>[]> {
    const { rows } = await this.run(`MATCH (t:${name}) RETURN * ORDER BY t.event_ts, t.id`);
    return rows.map(({ id: _, ...row }) => row);
  }

  file(name: string, content: string | Uint8Array): void {
    writeFileSync(join(this.root, name), content);
  }

  read(name: string): Buffer {
    return readFileSync(join(this.root, name));
  }

  has(name: string): boolean {
    return existsSync(join(this.root, name));
  }

  /** Names of the files in the copy root. */
  get names(): string[] {
    return readdirSync(this.root).sort();
  }

  async close(): Promise<void> {
    const { dir } = this.database;
    await this.database.close();
    for (const each of [dir, this.home]) rmSync(each, { recursive: true, force: true });
  }
}
