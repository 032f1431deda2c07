// Stores the specs of `hedgerow serve-virtual` as JSON files in one folder. They are read at the
// start; when a graph changes, its file is replaced as a whole.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageWithSettings } from '../config.ts';
import type { DocumentChange } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { nodeFs, writeFileAtomically } from '../storage/index.ts';
import type { VirtualOptions } from '../virtual/index.ts';
import { checkedSpec, type VirtualGraph } from '../virtual/spec/spec.ts';
import { jsonObject } from './virtual/json-text.ts';

const END = '.json';

/**
 * Loads every `<id>.json` of the folder as a graph. `root` is the folder for the files of backends.
 * Throws an Error that names the file and the place of the fault.
 */
export function openSpecFolder(dir: string, root: string): VirtualOptions['documents'] {
  const graphs = new Map<string, VirtualGraph>();
  for (const name of nodeFs.list(dir)) {
    if (!name.endsWith(END) || name.startsWith('.')) continue;
    const graph = graphOf(join(dir, name), name, root);
    graphs.set(graph.id, graph);
  }
  return {
    get: (_store, id) => graphs.get(id),
    entries: () => [...graphs],
    async change(changes) {
      for (const change of changes) await apply(change, dir, graphs);
      return 0;
    },
  };
}

function graphOf(path: string, name: string, root: string): VirtualGraph {
  const wrong = (what: string) => new Error(`${path} ${what}`);
  let value: Record<string, unknown>;
  try {
    value = jsonObject(readFileSync(path));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw wrong(`${code === undefined ? message : `cannot be read (${code})`}. ${ADVICE}`);
  }
  const { spec_version = 1 } = value;
  if (typeof spec_version !== 'number' || !Number.isSafeInteger(spec_version) || spec_version < 1)
    throw wrong(`is not a spec: spec_version must be an integer of at least 1. ${ADVICE}`);
  try {
    const spec = checkedSpec(value, { root });
    if (name === spec.id + END) return { ...spec, spec_version };
    throw wrong(`has the id ${JSON.stringify(spec.id)}: call the file ${spec.id}${END}.`);
  } catch (error) {
    throw error instanceof HedgerowError ? wrong(`is not a spec: ${messageWithSettings(error)} ${ADVICE}`) : error;
  }
}

const ADVICE = 'Files of the spec folder that end in .json are specs; put others into a folder below.';

/** Changes the file first, so that everything that is visible is also on disk. */
async function apply({ id, value }: DocumentChange, dir: string, graphs: Map<string, VirtualGraph>): Promise<void> {
  const path = join(dir, id + END);
  // The file was added by other means since the start, or its name differs only in case and the
  // file system ignores case.
  if (!graphs.has(id) && nodeFs.exists(path))
    throw refusal('conflict', `There is a file ${id}${END} that was not read at the start. Start again, or remove it.`);
  try {
    if (value === null) await remove(path, dir);
    else await writeFileAtomically(nodeFs, path, Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw refusal('disk_failed', `The file ${id}${END} of the spec folder cannot be changed (${code}).`);
  }
  if (value === null) graphs.delete(id);
  else graphs.set(id, value as VirtualGraph);
}

/** Removes the file; one that has already been removed is not an error. */
async function remove(path: string, dir: string): Promise<void> {
  if (nodeFs.kindOf(path) === null) return;
  await nodeFs.remove(path);
  await nodeFs.syncDir(dir);
}
