// Checks the entry points ("doors") of the large folders of src ("rooms"): the files that other
// folders may import.

import { describe, expect, it } from 'vitest';
import { sourceFiles } from './support/source-tree.ts';

/**
 * The files of these rooms that other rooms may import: `index.ts`, and separate entry points for
 * importers that must not load the whole room. Each has a reason. The list may only shrink.
 */
const DOORS: Record<string, readonly string[]> = {
  core: ['index.ts'],
  engine: [
    'index.ts',
    // `hedgerow inspect` reads files without opening a database. Loading the whole engine would
    // cost 0.2 s of CPU time at the start.
    'verify/index.ts',
  ],
  http: [
    'index.ts',
    'json-body.ts', // an import into a server checks its lines, but needs no HTTP server
    'openapi/json-schema.ts', // `hedgerow mcp` describes its tools
    'schema.ts', // the client and the console derive their types from schemas, in browsers
    'transport.ts', // the types of the transport, and the reasons that the health answer's schema lists, in browsers
  ],
  query: [
    'index.ts',
    'copy/index.ts', // text formats of files, for commands connected to a server
    'copy/parquet-remote.ts', // separate from the text formats, because it loads the Parquet libraries
    'language.ts', // completion and checks for statements that a server runs
    'result-types.ts', // the client and the console derive their types from schemas that use it, in browsers
  ],
  storage: ['index.ts'],
};

const src = sourceFiles('src', ['.ts', '.tsx']);

function roomOf(path: string): string {
  return path.split('/')[1]!;
}

describe('imports', () => {
  it('reach other rooms only through their doors', () => {
    const wrong: string[] = [];
    const used = new Set<string>();
    for (const file of src) {
      for (const imported of file.imports.filter((path) => path.startsWith('src/'))) {
        const room = roomOf(imported);
        if (room === roomOf(file.path) || DOORS[room] === undefined) continue;
        const door = DOORS[room].find((path) => imported === `src/${room}/${path}`);
        if (door === undefined) wrong.push(`${file.path} imports ${imported}`);
        else used.add(imported);
      }
    }
    expect(wrong).toEqual([]);
    const unused = Object.entries(DOORS).flatMap(([room, doors]) =>
      doors.map((path) => `src/${room}/${path}`).filter((path) => !used.has(path)),
    );
    expect(unused, 'no other room imports this file: remove it from the list of doors').toEqual([]);
  });
});
