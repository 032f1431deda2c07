// The file in which the leader of a service tells its workers what was acknowledged.

import { describe, expect, test } from 'vitest';
import { openState, StateReader, StateWriter } from '../../src/workers/shared-state.ts';

describe('the shared state', () => {
  test('is what was told last', () => {
    const fd = openState();
    const writer = new StateWriter(fd);
    const reader = new StateReader(fd);
    expect(reader.visibleLsn()).toBe(0);
    for (const lsn of [1, 2 ** 31, 2 ** 53 - 1]) {
      writer.visible(lsn);
      expect(reader.visibleLsn()).toBe(lsn);
    }
    writer.close();
  });

  test('names the sessions that have a transaction, and all if there are very many', () => {
    const fd = openState();
    const writer = new StateWriter(fd);
    const reader = new StateReader(fd);
    writer.visible(7);
    expect(reader.hasSession('a ')).toBe(false);
    writer.sessions(['a ', 'b ']);
    expect(['a ', 'b ', 'c '].map((name) => reader.hasSession(name))).toEqual([true, true, false]);
    writer.sessions(['b ']);
    expect(['a ', 'b '].map((name) => reader.hasSession(name))).toEqual([false, true]);
    writer.sessions(Array.from({ length: 1000 }, (_, n) => `${n} `));
    expect(reader.hasSession('c ')).toBe(true);
    writer.sessions([]);
    expect(reader.hasSession('b ')).toBe(false);
    expect(reader.visibleLsn()).toBe(7);
    writer.close();
    writer.visible(9);
    writer.sessions(['a ']);
  });
});
