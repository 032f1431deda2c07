import { describe, expect, test } from 'vitest';
import { comparable, folded } from '../../src/rag/firewall/lookalikes.ts';
import { cutAtTags, endOfTagAt, hasTag, withoutTags } from '../../src/rag/firewall/tags.ts';

describe('a folded text', () => {
  test('keeps its line breaks, with and without letters that are folded', () => {
    expect(folded('cafe one\ntwo')).toBe('cafe one\ntwo');
    expect(folded('caf\u00e9 one\ntwo\r\nthree')).toBe('caf\u00e9 one\ntwo\r\nthree');
    expect(comparable('Caf\u00e9 one\n two')).toBe('caf\u00e9 one two');
  });

  test('loses characters that cannot be seen', () => {
    expect(folded('a\u0000b\u200bc\u0085d\u00e9\u0007')).toBe('abc d\u00e9');
  });
});

describe('brackets with many tags', () => {
  const many = (kind: string, count: number) =>
    `[${Array.from({ length: count }, (_, i) => `${kind}-${i + 1}`).join(', ')}]`;

  test.each(['HEDGE', 'STEP', 'RULE'])('are tags however many %s there are', (kind) => {
    for (const count of [1, 4, 6, 60]) {
      const brackets = many(kind, count);
      expect(hasTag(`So it is. ${brackets}`)).toBe(true);
      expect(endOfTagAt(` ${brackets} more`, 0)).toBe(brackets.length + 1);
      expect(cutAtTags(`So it is ${brackets}`).groups[0]!.tags.length).toBe(count);
      expect(withoutTags(brackets)).not.toContain('[');
    }
  });

  test('are not tags when a long text in them only mentions a step', () => {
    expect(hasTag('[the second step of the procedure took 12 minutes and more]')).toBe(false);
  });
});
