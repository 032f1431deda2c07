// The rules that the demo stores. They use what the tables hold: roles, attributes of nodes, and
// ends of tenancies.

import type { NewRule } from '../../client/index.ts';

/**
 * `brings_home` uses the conclusion of `housemates` and a negation, so its proofs have three
 * levels. The first three are about meetings, the others about tenancies.
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
  {
    id: 'rule:invited_from',
    name: 'A host knows the district from which a guest comes',
    if: [
      { pred: 'role', args: ['?E', '?Host', 'host'] },
      { pred: 'role', args: ['?E', '?Guest', 'guest'] },
      { pred: 'attribute', args: ['?Host', 'district', '?Here'] },
      { pred: 'attribute', args: ['?Guest', 'district', '?There'] },
      { compare: ['?Here', '!=', '?There'] },
    ],
    then: { pred: 'invited_from', args: ['?Host', '?Guest', '?There'], confidence: 0.9 },
  },
  {
    id: 'rule:lives_with',
    name: 'Members of a tenancy that are nodes of one kind live with each other',
    if: [
      { pred: 'member', args: ['?E', '?A'] },
      { pred: 'member', args: ['?E', '?B'] },
      { compare: ['?A', '!=', '?B'] },
      { pred: 'role', args: ['?E', '?Home', 'home'] },
      { pred: 'node', args: ['?A', '?Kind'] },
      { pred: 'node', args: ['?B', '?Kind'] },
    ],
    then: { pred: 'lives_with', args: ['?A', '?B'], confidence: 1 },
  },
  {
    id: 'rule:lived_at',
    name: 'A tenant has lived at the home of the tenancy',
    if: [
      { pred: 'role', args: ['?E', '?Tenant', 'tenant'] },
      { pred: 'role', args: ['?E', '?Home', 'home'] },
    ],
    then: { pred: 'lived_at', args: ['?Tenant', '?Home'], confidence: 1 },
  },
  {
    id: 'rule:moved',
    name: 'A tenant whose tenancy ends when another one begins has moved',
    if: [
      { pred: 'role', args: ['?E', '?Tenant', 'tenant'] },
      { pred: 'role', args: ['?E', '?Old', 'home'] },
      { pred: 'until', args: ['?E', '?T'] },
      { pred: 'at', args: ['?F', '?T'] },
      { pred: 'role', args: ['?F', '?Tenant', 'tenant'] },
      { pred: 'role', args: ['?F', '?New', 'home'] },
    ],
    then: { pred: 'moved', args: ['?Tenant', '?Old', '?New'], confidence: 1 },
  },
];
