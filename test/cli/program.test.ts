import { afterEach, expect, test, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';

afterEach(() => vi.restoreAllMocks());

function quiet(): { text: () => string } {
  let text = '';
  const keep = (chunk: unknown): boolean => {
    text += String(chunk);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
  return { text: () => text };
}

test.each([
  [['--help'], 0, /import .*inspect .*demo /s],
  [['--version'], 0, /^9\.8\.7$/m],
  [['import', '--help'], 0, /--on-error/],
  [['import'], 2, /missing required argument 'file'/],
  [['import', '--unknown', 'x'], 2, /unknown option '--unknown'/],
  [['nothing'], 2, /unknown command/],
  [['import', '--on-error', 'maybe', '-'], 2, /takes stop or skip/],
  [['inspect', '/nowhere/at/all'], 1, /There is nothing at/],
])('%j ends with %i', async (argv, exitCode, expected) => {
  const shown = quiet();
  expect(await runProgram(argv, '9.8.7')).toBe(exitCode);
  expect(shown.text()).toMatch(expected);
});
