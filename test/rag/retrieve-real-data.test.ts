// Compares retrieval over real mails with a scan of all of them. The file with the mails is not in
// this repository, but in ../shared/data or in the folder data of HEDGEROW_SHARED.

import { beforeAll, describe, expect, it } from 'vitest';
import type { Table } from '../../src/engine/index.ts';
import { hasDataFile, readDataFile } from '../data/data-file.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { naiveRetrieval, type PlainRow, type Wish } from './naive-retrieval.ts';
import { insert, retrieved } from './retrieval-world.ts';

const isThere = hasDataFile('email-Enron');

describe.skipIf(!isThere)('retrieval over email-Enron', () => {
  let table: Table;
  const { times, members } = isThere ? readDataFile('email-Enron') : { times: [], members: [] };
  const rows: PlainRow[] = times.map((event_ts, index) => ({
    id: index + 1,
    event_ts,
    members: [...new Set(members[index])].sort((a, b) => a - b),
  }));

  beforeAll(async () => {
    const database = await openSim(simDisk(), { core: 'release', segmentRows: 2000, maxMembers: 255 });
    await database.createTable({ name: 'mails', bucketSeconds: 3600 });
    table = database.table('mails');
    await insert(table, rows.slice(0, 8000));
    await database.compact();
    await insert(table, rows.slice(8000));
  });

  const nothing: Wish = { nodes: [], filters: [], top: null, order: 'score', keywords: [] };
  const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date) / 1000;

  it.each<[string, Partial<Wish>]>([
    ['', {}],
    ['mails of node 12', { nodes: [12] }],
    ['what did nodes 12, 47 and 67 write?', { nodes: [12, 47, 67], keywords: ['write'] }],
    ['node 37 and 53 since 2001-06-01', { nodes: [37, 53], startTs: day(2001, 6, 1) }],
    ['between 2001-01-01 and 2001-03-31', { startTs: day(2001, 1, 1), endTs: day(2001, 4, 1) - 1 }],
    ['in June 2001 node 37', { nodes: [37], startTs: day(2001, 6, 1), endTs: day(2001, 7, 1) - 1 }],
    ['before 2000 top 7', { endTs: day(2000, 1, 1) - 1, top: 7 }],
    ['latest 5 mails of node 3', { nodes: [3], order: 'newest', top: 5 }],
    ['oldest 5 mails of nodes 3 and 4', { nodes: [3, 4], order: 'oldest', top: 5 }],
    ['nodes 1 2', { nodes: [1, 2] }],
    [
      'nodes 1, 2, 3, 4, 5, 6 and 7 in 2001',
      { nodes: [1, 2, 3, 4, 5, 6, 7], startTs: day(2001, 1, 1), endTs: day(2002, 1, 1) - 1 },
    ],
  ])('finds the same edges as a scan of all mails for "%s"', (text, wish) => {
    for (const topK of [1, 40, 1000]) {
      const found = retrieved(table, text, { topK });
      // Mails have no text, so keywords change the scale of the scores but not the order.
      const { keywords } = found.question;
      const wanted = naiveRetrieval(rows, { ...nothing, ...wish, keywords: [...keywords] }, topK);
      expect(found.edges.map(({ edge_id }) => edge_id)).toEqual(wanted.ids);
      expect(found.truncated).toBe(wanted.truncated);
      expect(wanted.ids.length).toBeGreaterThan(0);
    }
  });
});
