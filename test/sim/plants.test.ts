import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { editsOf, patched } from './plant-source.ts';
import { PLANTS } from './plants.ts';

describe('planted faults', () => {
  it.each(PLANTS)('have a text in the source that can be replaced: $name', (plant) => {
    for (const edit of editsOf(plant)) {
      const source = readFileSync(new URL(`../../src/${edit.file}`, import.meta.url), 'utf8');
      expect(patched(source, plant.name, edit)).not.toBe(source);
    }
  });

  it('are refused if their text is no longer in the source', () => {
    const edit = { file: 'b.ts', search: 'not there', replace: '' };
    expect(() => patched('text', 'a', edit)).toThrow('0 times');
  });
});
