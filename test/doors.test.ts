// The doors of the large rooms: what other rooms may import of them.

import { describe, expect, it } from 'vitest';
import { sourceFiles } from './support/source-tree.ts';

/**
 * What other rooms may import of these rooms: `index.ts`, and doors of their own for those that must not load the whole room, each with the reason. The list may
 * only shrink.
 */
const DOORS: Record<string, readonly string[]> = {
  core: ['index.ts'],
  engine: [
    'index.ts',
    'verify/index.ts', // `hedgerow inspect` reads files without opening a database; the whole engine costs it 0.2 s of CPU time at start
  ],
  http: [
    'index.ts',
    'json-body.ts', // an import into a server checks its lines, and needs no server itself
    'openapi/json-schema.ts', // `hedgerow mcp` describes its tools
    'schema.ts', // the client and the console derive their types from schemas, in browsers
    'transport.ts', // the types of the transport, and the reasons that the health answer's schema lists, in browsers
  ],
  query: [
    'index.ts',
    'copy/index.ts', // text formats of files, for commands connected to a server
    'copy/parquet-remote.ts', // apart from the text formats, since it loads the Parquet libraries
    'language.ts', // completion and checks of statements that a server runs
    'result-types.ts', // the client and the console derive their types from schemas that use it, in browsers
  ],
  storage: ['index.ts'],
};

const src = sourceFiles('src', ['.ts', '.tsx']);

function roomOf(path: string): string {
  return path.split('/')[1]!;
}

describe('imports', () => {
  it('from other rooms go through the doors', () => {
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
    expect(unused, 'nobody comes through: take it off the list of doors').toEqual([]);
  });
});
