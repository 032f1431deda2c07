// The files with the nodes of a dump: one JSON object per line, by key, compressed. They have this
// form in dumps of every format.

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { NodeTableItem } from '../../engine/index.ts';
import { writeOutput } from '../export/output-file.ts';
import type { Row } from '../run/runner.ts';
import type { Output } from '../world.ts';
import type { DefinitionStore } from './definitions.ts';
import { type DumpedFile, dumpedFile, nodesPath } from './dump-file.ts';

/** Nodes that are written by one call of the store. */
const NODES_AT_ONCE = 1000;

/** Writes the file of one node table. */
export async function writeNodeTable(
  dir: string,
  store: DefinitionStore,
  { name }: NodeTableItem,
  { signal, stdout }: { signal: AbortSignal; stdout: Output },
): Promise<DumpedFile> {
  const path = nodesPath(name);
  let rows = 0;
  async function* lines(): AsyncGenerator<Uint8Array> {
    for await (const nodes of store.nodes(name)) {
      signal.throwIfAborted();
      rows += nodes.length;
      if (nodes.length > 0) yield Buffer.from(nodes.map((node) => `${JSON.stringify(node)}\n`).join(''));
    }
  }
  await writeOutput(lines(), join(dir, path), stdout);
  return dumpedFile(dir, path, name, rows);
}

/** Writes the nodes of a file of a dump into the node table. Nodes that are there are replaced. */
export async function loadNodeTable(dir: string, store: DefinitionStore, table: NodeTableItem): Promise<void> {
  const input = createReadStream(join(dir, nodesPath(table.name))).pipe(createGunzip());
  let nodes: Row[] = [];
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    nodes.push(JSON.parse(line) as Row);
    if (nodes.length < NODES_AT_ONCE) continue;
    await store.writeNodes(table, nodes);
    nodes = [];
  }
  if (nodes.length > 0) await store.writeNodes(table, nodes);
}
