// Memory is exhausted in the middle of replaying a frame. The runs of operations before that point
// are applied once, and the run that failed is retried at its own LSN.

import { expect, test } from 'vitest';
import { OPERATION, singleRun } from '../../src/engine/commit/operations.ts';
import { type ReplayTarget, replayFrame } from '../../src/engine/recovery/recovery.ts';
import { HedgerowError } from '../../src/errors.ts';

test('replay reports how much of the frame it has applied, and continues from there', () => {
  const runs = ['a', 'b', 'c'].flatMap((text) => singleRun(OPERATION.document, Buffer.from(text)));
  const frame = { firstLsn: 10, operations: 3, payload: new Uint8Array(Buffer.concat(runs)) };
  const tried: [string, number][] = [];
  let failures = 2;
  const documents = {
    replay(bytes: Uint8Array, lsn: number) {
      const text = Buffer.from(bytes).toString();
      tried.push([text, lsn]);
      if (text === 'b' && failures-- > 0) throw new HedgerowError('overloaded', 'no memory');
    },
  };
  const target = { catalogLsn: 0, documents } as unknown as ReplayTarget;
  expect([...replayFrame(frame as never, target)]).toEqual([10, 10]);
  expect(tried).toEqual([
    ['a', 10],
    ['b', 11],
    ['b', 11],
    ['b', 11],
    ['c', 12],
  ]);
});

test('an error other than lack of memory is thrown unchanged', () => {
  const payload = new Uint8Array(Buffer.concat(singleRun(OPERATION.document, Buffer.from('a'))));
  const documents = {
    replay() {
      throw new HedgerowError('corrupt', 'not ours');
    },
  };
  const target = { catalogLsn: 0, documents } as unknown as ReplayTarget;
  expect(() => [...replayFrame({ firstLsn: 1, operations: 1, payload } as never, target)]).toThrow('not ours');
});
