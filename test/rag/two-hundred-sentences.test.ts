// Checks the sentences about edges with texts in two files: two hundred in the first, and more than
// forty in the second. About half are false in one respect. Nearly all must be judged correctly;
// the exceptions are marked `missed` in the files.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { firewall, type Support } from '../../src/rag/firewall/firewall.ts';
import type { RetrievedEdge } from '../../src/rag/retrieval/retrieved-edge.ts';

const FILES = ['two-hundred-sentences.txt', 'more-sentences.txt'] as const;

interface Judged {
  readonly file: (typeof FILES)[number];
  readonly text: string;
  readonly isTrue: boolean;
  readonly isMissed: boolean;
}

function linesOf(file: string): string[] {
  return readFileSync(new URL(file, import.meta.url), 'utf8').split('\n');
}

const edges = new Map<number, RetrievedEdge>();
const sentences: Judged[] = [];
for (const { file, line } of FILES.flatMap((file) => linesOf(file).map((line) => ({ file, line })))) {
  const edge = /^edge (\d+) (\S+) (\S+) (.*)$/.exec(line);
  if (edge !== null) {
    const edge_id = Number(edge[1]);
    edges.set(edge_id, {
      edge_id,
      hedge_tag: `HEDGE-${edge_id}`,
      event_ts: Date.parse(edge[2]!) / 1000,
      members: edge[3]!.split(',').map(Number),
      weight: null,
      mean_dist_m: null,
      formation: null,
      score: 1,
      why: [],
      properties: JSON.parse(edge[4]!),
    });
  }
  const said = /^([+-])( missed)? (.*)\.$/.exec(line);
  if (said === null) continue;
  const text = `${said[3]} [HEDGE-${edges.size}].`;
  sentences.push({ file, text, isTrue: said[1] === '+', isMissed: said[2] !== undefined });
}

const support: Support = {
  edges,
  steps: { has: () => false, get: () => undefined, values: () => [] },
  rules: new Map(),
};

const ofFirst = (isTrue: boolean) => sentences.filter((one) => one.file === FILES[0] && one.isTrue === isTrue);

it('two-hundred-sentences.txt has a hundred true and a hundred false sentences', () => {
  expect([ofFirst(true).length, ofFirst(false).length]).toEqual([100, 100]);
  expect(sentences.length).toBeGreaterThan(240);
});

it('at least 98 % of the true and of the false sentences are judged correctly, and the others are marked', () => {
  const wrong = sentences.filter(({ text, isTrue }) => firewall(text, support).abstained === isTrue);
  expect(wrong.map(({ text }) => text)).toEqual(sentences.filter(({ isMissed }) => isMissed).map(({ text }) => text));
  for (const side of [true, false])
    expect(wrong.filter((one) => ofFirst(side).includes(one)).length).toBeLessThanOrEqual(2);
});
