// The two rules that the demo stores: who lives together, and what reaches a home from outside.

import type { NewRule } from '../../client/index.ts';

/**
 * The second rule uses the conclusion of the first and a negation, so its proofs have three levels.
 */
export const DEMO_RULES: readonly NewRule[] = [
  {
    id: 'rule:housemates',
    name: 'Those who breakfast together live together',
    if: [
      { pred: 'formation', args: ['?E', 'breakfast'] },
      { pred: 'member', args: ['?E', '?A'] },
      { pred: 'member', args: ['?E', '?B'] },
      { compare: ['?A', '!=', '?B'] },
    ],
    then: { pred: 'housemates', args: ['?A', '?B'], confidence: 0.95 },
  },
  {
    id: 'rule:brings_home',
    name: 'What somebody hears outside, the housemates hear too',
    if: [
      { pred: 'housemates', args: ['?Bearer', '?Home'] },
      { pred: 'member', args: ['?E', '?Bearer'] },
      { pred: 'member', args: ['?E', '?Source'] },
      { compare: ['?Source', '!=', '?Bearer'] },
      { compare: ['?Source', '!=', '?Home'] },
      { not: { pred: 'housemates', args: ['?Source', '?Home'] } },
    ],
    then: { pred: 'brings_home', args: ['?Source', '?Bearer', '?Home'], confidence: 0.6 },
  },
];
