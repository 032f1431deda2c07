// Edges as a HIF document (v0.1): incidences as the rows come, edges with their attributes behind them, laid aside until then.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResultColumn } from '../../query/copy/result-columns.ts';
import type { Row } from '../query/runner.ts';

interface Edges {
  readonly columns: readonly ResultColumn[];
  readonly batches: AsyncIterable<readonly Row[]>;
}

/** Nodes stand in no list of their own: they are what the incidences name. */
export async function* hifBytes({ columns, batches }: Edges): AsyncGenerator<Uint8Array> {
  const isEdges = ['event_ts', 'members'].every((wanted) => columns.some(({ name }) => name === wanted));
  if (!isEdges)
    throw new Error(
      'HIF holds edges: the statement must return event_ts and members under these names, as RETURN * does.',
    );
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-hif-'));
  const aside = join(dir, 'edges.json');
  try {
    const file = await open(aside, 'w');
    try {
      yield Buffer.from('{"network-type":"undirected","metadata":{"written-by":"Hedgerow"},\n"incidences":[');
      yield* incidences(batches, file);
    } finally {
      await file.close();
    }
    yield Buffer.from('\n],\n"edges":[');
    for await (const piece of createReadStream(aside)) yield piece as Buffer;
    yield Buffer.from('\n]}\n');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function* incidences(batches: AsyncIterable<readonly Row[]>, edges: FileHandle): AsyncGenerator<Uint8Array> {
  let number = 0;
  let before = '\n';
  for await (const batch of batches) {
    let nodes = '';
    let attributes = '';
    for (const row of batch) {
      const edge = JSON.stringify(Number.isSafeInteger(row.id) ? row.id : number);
      attributes += `${number === 0 ? '\n' : ',\n'}${edgeText(edge, row)}`;
      number++;
      for (const node of row.members as readonly number[]) {
        nodes += `${before}{"edge":${edge},"node":${node}}`;
        before = ',\n';
      }
    }
    await edges.appendFile(attributes);
    if (nodes !== '') yield Buffer.from(nodes);
  }
}

function edgeText(edge: string, { id: _id, members: _members, weight, ...others }: Row): string {
  const attrs = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  const heavy = typeof weight === 'number' ? `"weight":${JSON.stringify(weight)},` : '';
  return `{"edge":${edge},${heavy}"attrs":${JSON.stringify(attrs)}}`;
}
