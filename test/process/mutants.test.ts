// Tests the faults (mutants) that `npm run mutate` plants in source files.

import { expect, test } from 'vitest';
import { mutantsOf, withMutant } from './mutants.ts';

const TEXT = `// a < b
function f(): void {
  if (a < b && c()) return;
  await this.log.sync();
  throw corruption(path, 0, 'is < 1');
}`;

test('each operator makes one mutant per line that it fits, but none in comments or strings', () => {
  const found = mutantsOf('f.ts', TEXT).map(({ line, operator, after }) => `${line} ${operator}: ${after}`);
  expect(found.sort()).toEqual([
    '2 return early: function f(): void { return;',
    '3 move bound: if (a <= b && c()) return;',
    '3 negate condition: if (!(a < b && c())) return;',
    '3 swap operator: if (a < b || c()) return;',
    '4 remove await: this.log.sync();',
    '4 remove statement: ;',
    '5 remove statement: ;',
  ]);
});

test('a mutant changes only its own line', () => {
  const [mutant] = mutantsOf('f.ts', TEXT);
  const lines = withMutant(TEXT, mutant!).split('\n');
  const before = TEXT.split('\n');
  expect(lines.filter((line, index) => line !== before[index])).toHaveLength(1);
});
