import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const CHILD = fileURLToPath(new URL('./slow-pipe-child.js', import.meta.url));
/** The child writes 500 lines per round, and one more at the end. */
const ROUND = 500;

function start(rounds: number, ...parameters: string[]) {
  const child = spawn(process.execPath, [CHILD, String(rounds), ...parameters]);
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child, exit };
}

function reports(output: string): { turns?: number; lost: number }[] {
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('a process whose standard error is not read', () => {
  it('continues, buffers a limited number of lines, counts the lost lines and ends', async () => {
    const { child, exit } = start(40);
    const [output, code] = await Promise.all([text(child.stdout), exit]);
    expect(code).toBe(0);
    const [atEnd, closed] = reports(output);
    expect(atEnd!.turns).toBe(40);
    expect(atEnd!.lost).toBeGreaterThan(10_000);
    expect(closed!.lost).toBeGreaterThan(atEnd!.lost);
  });
});

describe('a process whose standard error is read', () => {
  it('has written or counted every line when it ends, including the last one', async () => {
    const { child, exit } = start(40);
    const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
    expect(code).toBe(0);
    const lines = errors.trim().split('\n');
    const { lost } = reports(output).at(-1)!;
    const notices = lines.filter((line) => line.includes('log lines lost'));
    expect(lines.length - notices.length + lost).toBe(40 * ROUND + 1);
    expect(lines.filter((line) => !line.startsWith('{"level":') || !line.endsWith('"}'))).toEqual([]);
    expect(lines.some((line) => line.includes('the last line'))).toBe(true);
  });

  it('has written its last lines when it crashes', async () => {
    const { child, exit } = start(1, 'throw');
    const [errors, code] = await Promise.all([text(child.stderr), exit]);
    expect(code).toBe(1);
    const lines = errors.split('\n');
    expect(lines.filter((line) => line.includes('"filler"'))).toHaveLength(ROUND);
    expect(lines.some((line) => line.includes('"msg":"the last line"'))).toBe(true);
    expect(lines).toContain('Error: crash');
  });
});
