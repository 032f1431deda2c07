import { expect, test } from 'vitest';
import { COMMANDS } from '../../src/cli/shell/commands.ts';
import { commandCompletion, completionOf } from '../../src/cli/shell/completion.ts';

const TABLES = [
  { name: 'Contact', columns: ['id', 'event_ts', 'members', 'place'] },
  { name: 'trips', columns: ['id', 'event_ts', 'members', 'speed', 'price'] },
];

test.each<[before: string, word: string, some: string[], none: string[]]>([
  ['mat', 'mat', ['match'], ['MATCH']],
  ['MAT', 'MAT', ['MATCH'], ['match']],
  ['MATCH (a:', '', ['Contact', 'trips'], ['id']],
  ['MATCH (a: con', 'con', ['Contact'], ['CONTAINS', 'trips']],
  ['MATCH (a:trips) WHERE a.', '', ['speed', 'event_ts'], ['place']],
  ['MATCH (a:trips), (b:`Contact`) WHERE B.p', 'p', ['place'], ['price']],
  ['MATCH (a:trips) WHERE x.p', 'p', ['place', 'price'], []],
  ['UPDATE trips SET trips.sp', 'sp', ['speed'], ['place']],
  ['UPDATE trips SET sp', 'sp', ['speed'], []],
  ['MATCH (a:trips) WHERE sh', 'sh', ['shared(', 'show'], ['SHARED(']],
  ['MATCH (a:trips) RETURN CO', 'CO', ['COUNT(', 'COLLECT(', 'CONTAINS'], ['count(']],
  ['INSERT INTO t', 't', ['trips'], ['to', 'text']],
  ['DROP HYPEREDGE TABLE IF EXISTS ', '', ['Contact', 'trips'], []],
  ['MATCH (a:trips) WHERE EXISTS ', '', [], ['Contact', 'trips']],
  ['MATCH (a:trips) WHERE EXISTS ((b:', '', ['Contact', 'trips'], ['id']],
  ['MATCH (a:trips) WHERE EXISTS ((b:Contact) WHERE b.p', 'p', ['place'], ['price']],
  ['MATCH (a:trips) WHERE ex', 'ex', ['exists', 'explain'], []],
  ['COPY ', '', ['Contact'], []],
  ['xyz', 'xyz', [], ['match']],
  ['', '', [], ['match']],
])('%j is completed with matching names', (before, word, some, none) => {
  const completion = completionOf(before, TABLES);
  expect(completion.word).toBe(word);
  for (const name of some) expect(completion.candidates).toContain(name);
  for (const name of none) expect(completion.candidates).not.toContain(name);
});

test.each<[string, string, string[]]>([
  ['.', '.', COMMANDS.map(({ name }) => name).sort()],
  ['.t', '.t', ['.tables', '.timer']],
  ['.mode n', 'n', ['ndjson']],
  ['.timer ', '', ['off', 'on']],
  ['.schema T', 'T', ['trips']],
  ['.quit x', 'x', []],
  ['.nothing x', 'x', []],
  ['.mode a b', '', []],
])('the command %j is completed with its arguments', (line, word, candidates) => {
  expect(commandCompletion(line, COMMANDS, TABLES)).toEqual({ candidates, word });
});
