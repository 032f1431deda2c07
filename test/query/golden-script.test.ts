// Runs the golden scripts (golden/14-*.txt and up): every kind of statement other than MATCH. The
// answers must be the same without interruption, with a COMPACT between the statements, and with
// restarts between them.

import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WRITE_GOLDEN } from '../support/golden.ts';
import { type GoldenCase, goldenNames, goldenPath, goldenText, readGolden } from './golden-file.ts';
import { masked, runScript, STATES } from './golden-script.ts';

const files = goldenNames()
  .map(readGolden)
  .filter(({ scripts }) => scripts.length > 0);

describe('golden scripts', () => {
  it('are more than 200 and have unique names', () => {
    const scripts = files.flatMap((file) => file.scripts);
    expect(scripts.length).toBeGreaterThan(200);
    expect(new Set(scripts.map(({ name }) => name)).size, 'each has a name of its own').toBe(scripts.length);
  });

  it.runIf(WRITE_GOLDEN).each(files)('are written for $name', async (file) => {
    const answers = new Map<GoldenCase, readonly string[]>();
    for (const script of file.scripts) {
      const found = await runScript(file, script, 'as it stands');
      for (const [place, step] of script.steps.entries())
        answers.set(
          step,
          found[place]!.map((line) => masked(line, 'as it stands')),
        );
    }
    writeFileSync(goldenPath(file.name), goldenText(file, answers));
  });

  describe.skipIf(WRITE_GOLDEN).each(files)('golden scripts in $name', (file) => {
    describe.each(file.scripts)('the script $name', (script) => {
      it.each(STATES)('gives the expected answers: %s', async (state) => {
        const lines = (answer: readonly string[]) => answer.map((line) => masked(line, state));
        const answers = await runScript(file, script, state);
        expect(script.steps.map(({ head }, place) => ({ head, answer: lines(answers[place]!) }))).toEqual(
          script.steps.map(({ head, answer }) => ({ head, answer: lines(answer) })),
        );
      });
    });
  });
});
