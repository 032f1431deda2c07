import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { patched } from './plant-source.ts';
import { PLANTS } from './plants.ts';

describe('planted faults', () => {
  it.each(PLANTS)('$name: its text is in the source', (plant) => {
    const source = readFileSync(new URL(`../../src/${plant.file}`, import.meta.url), 'utf8');
    expect(patched(source, plant)).not.toBe(source);
  });

  it('are refused when their text has gone', () => {
    const plant = { name: 'a', file: 'b.ts', search: 'not there', replace: '' };
    expect(() => patched('text', plant)).toThrow('0 times');
  });
});
