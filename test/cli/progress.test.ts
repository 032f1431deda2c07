import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { durationText, startProgress } from '../../src/cli/progress.ts';

function terminal(): { output: Writable & { isTTY: boolean }; shown: () => string } {
  let text = '';
  const output = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return {
    output: Object.assign(output, { isTTY: true, cursorTo() {}, clearLine() {}, columns: 120 }),
    shown: () => text,
  };
}

test('a terminal shows the percentage by bytes, rows per second and the time left', async () => {
  const { output, shown } = terminal();
  let nowMs = 1000;
  const progress = startProgress({ output, label: 'edges.gz', totalBytes: 1000, now: () => nowMs });
  nowMs = 3000;
  progress.update(250, 50_000);
  await new Promise((resolve) => setTimeout(resolve, 300));
  progress.stop();
  expect(shown()).toMatch(/edges\.gz .*25% \| 50,000 rows \| 25,000 rows\/s \| 6 s left/);
});

test('nothing is shown when the output is not a terminal', () => {
  let text = '';
  const progress = startProgress({
    output: {
      write: (more: string) => {
        text += more;
      },
    },
    label: 'x',
    totalBytes: 1,
    now: () => 0,
  });
  progress.update(1, 1);
  progress.stop();
  expect(text).toBe('');
});

test('durations are shown in the two largest units', () => {
  expect([0, 59.2, 75, 3600, 7260].map(durationText)).toEqual([
    '0 s',
    '1 min 0 s',
    '1 min 15 s',
    '1 h 0 min',
    '2 h 1 min',
  ]);
});
