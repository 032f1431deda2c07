import { expect, test } from 'vitest';
import { PlainEdgeReader } from '../../src/cli/import/rows/plain-edge.ts';
import { fc } from '../support/property.ts';

const reader = new PlainEdgeReader();

/** Returns the edge, or undefined if the line is left to JSON.parse. */
function read(line: string): unknown {
  const bytes = Buffer.from(`x${line}\n`);
  return reader.read(bytes, 1, bytes.length - 1) ? { ...reader.edge } : undefined;
}

test.each([
  '{"event_ts":0,"members":[61,128,182]}',
  '{"event_ts":-5,"members":[7]}',
  '{"event_ts": 1, "members": [1, 2]}',
  '{"event_ts":999999999999999,"members":[-1,0,2,2]}',
  '{"event_ts":1,"members":[1]}\r',
  '{"event_ts":1,"members":[1]}  ',
])('a plain line is parsed from its bytes: %s', (line) => {
  expect(read(line)).toEqual(JSON.parse(line));
});

test.each([
  '{"event_ts":-0,"members":[1]}',
  '{"event_ts":01,"members":[1]}',
  '{"event_ts":1.0,"members":[1]}',
  '{"event_ts":1e3,"members":[1]}',
  '{"event_ts":1,"members":[]}',
  '{"event_ts":1,"members":[1,]}',
  '{"event_ts":1,"members":[1],"weight":2}',
  '{"event_ts":9007199254740993,"members":[1]}',
  '{"members":[1],"event_ts":1}',
  '{"event_ts":1,"members":[1]} {}',
  '{"event_ts":1,"members":[1]',
  '{"event_ts":-,"members":[1]}',
  '',
  '\r',
])('any other line is left to JSON.parse: %j', (line) => {
  expect(read(line)).toBeUndefined();
});

test('a line that is parsed from its bytes gives the same edge as JSON.parse', () => {
  const token = fc.constantFrom('{', '}', '[', ']', ',', ':', '"event_ts"', '"members"', ' ', '-', '0', '1', '\r', '.');
  const nearly = fc
    .tuple(fc.integer(), fc.array(fc.integer(), { minLength: 1, maxLength: 4 }))
    .chain(([time, members]) => {
      const line = JSON.stringify({ event_ts: time, members });
      return fc
        .tuple(fc.nat(line.length), fc.nat(2), token)
        .map(([at, cut, text]) => line.slice(0, at) + text + line.slice(at + cut));
    });
  let taken = 0;
  fc.assert(
    fc.property(nearly, (line) => {
      const edge = read(line);
      if (edge === undefined) return;
      taken++;
      expect(edge).toEqual(JSON.parse(line));
    }),
    { numRuns: 20_000, seed: 7 },
  );
  expect(taken).toBeGreaterThan(500);
});
