// Times durable loading, with all indexes built: Hedgerow against SQLite and, if installed, LMDB.

import { type Edge, readEdges } from './dataset.ts';
import { type LmdbStore, openLmdb } from './lmdb.ts';
import { alternate, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { loadHedgerow, loadSqlite } from './stores.ts';

export async function runLoad({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const { edges, file } = dataset;
  const rounds = tiny ? 1 : 3;
  const lmdb = await openLmdb();
  if (lmdb === undefined) note('load: lmdb is not installed (npm install --no-save lmdb adds it as a peer)');

  const hedgerow = async (from: () => readonly Edge[]) => {
    const dir = workspace.fresh('load');
    const ms = await timed(async () => {
      const database = await loadHedgerow(dir, from());
      await database.close();
    });
    workspace.remove(dir);
    return ms;
  };
  const sqlite = async (from: () => readonly Edge[]) => {
    const path = workspace.fresh('load');
    const ms = await timed(() => loadSqlite(path, from()).close());
    workspace.remove(path);
    return ms;
  };
  const parsed = () => edges;
  const unzipped = () => readEdges(file);

  if (!tiny) {
    const few = edges.slice(0, edges.length / 20);
    await alternate(1, [() => hedgerow(() => few), () => sqlite(() => few)]);
  }
  const [oursMs, sqliteMs] = await alternate(rounds, [() => hedgerow(parsed), () => sqlite(parsed)]);
  const [oursGzMs, sqliteGzMs] = await alternate(rounds, [() => hedgerow(unzipped), () => sqlite(unzipped)]);
  const rate = (ms: number | undefined) => (edges.length / ms!) * 1000;
  const rows = [
    benchRow({
      name: 'load from memory, beside SQLite',
      unit: 'edges/s',
      ours: rate(oursMs),
      peer: rate(sqliteMs),
      target: { ratioAtLeast: 3 },
    }),
    benchRow({
      name: 'load from the .gz file, beside SQLite',
      unit: 'edges/s',
      ours: rate(oursGzMs),
      peer: rate(sqliteGzMs),
      target: { ratioAtLeast: 3 },
    }),
  ];
  if (lmdb !== undefined) rows.push(await besideLmdb(lmdb, () => hedgerow(parsed)));
  return rows;

  async function besideLmdb(store: LmdbStore, ours: () => Promise<number>): Promise<BenchRow> {
    const load = async () => {
      const path = workspace.fresh('lmdb');
      const ms = await timed(() => store.load(path, edges));
      workspace.remove(path);
      return ms;
    };
    const [ms, lmdbMs] = await alternate(rounds, [ours, load]);
    return benchRow({ name: 'load from memory, beside LMDB', unit: 'edges/s', ours: rate(ms), peer: rate(lmdbMs) });
  }
}
