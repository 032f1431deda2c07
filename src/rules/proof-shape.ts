// Checks that a value has the form of a proof: all fields, each with the right type. The contents
// are checked elsewhere.

import { isConstant } from './fact-text.ts';
import { shown } from './fault.ts';
import type { Proof } from './proof.ts';
import { COMPARE_OPS } from './rule.ts';

/** Returns the proof, or what is wrong with its form, as sentences without full stops. */
export function readProof(value: unknown): { proof: Proof } | { problems: string[] } {
  const problems: string[] = [];
  if (!isRecord(value)) return { problems: [`a proof must be an object, not ${shown(value)}`] };
  check(value, PROOF, '', problems);
  if (Array.isArray(value.nodes)) value.nodes.forEach((node, at) => void checkNode(node, at, problems));
  if (Array.isArray(value.edges)) value.edges.forEach((edge, at) => void checkEdge(edge, at, problems));
  return problems.length > 0 ? { problems } : { proof: value as unknown as Proof };
}

type Fields = Readonly<Record<string, unknown>>;

interface FieldRule {
  readonly is: (value: unknown) => boolean;
  readonly wanted: string;
}

type Shape = Readonly<Record<string, FieldRule>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isArrayOf = (value: unknown, is: (item: unknown) => boolean) => Array.isArray(value) && value.every(is);
const isShare = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1;
const isOp = (value: unknown) => (COMPARE_OPS as readonly unknown[]).includes(value);

const TEXT: FieldRule = { is: isText, wanted: 'a text' };
const CONSTANTS: FieldRule = { is: (value) => isArrayOf(value, isConstant), wanted: 'an array of constants' };
const ARRAY: FieldRule = { is: Array.isArray, wanted: 'an array' };
const SHARE: FieldRule = { is: isShare, wanted: 'a number from 0 to 1' };
const INTEGER: FieldRule = { is: Number.isSafeInteger, wanted: 'an integer' };

/** Returns the rule for a text that consists of a prefix, a hyphen and a number from 1 on. */
function numbered(prefix: string): FieldRule {
  const form = new RegExp(`^${prefix}-[1-9][0-9]{0,15}$`);
  return { is: (value) => isText(value) && form.test(value), wanted: `${prefix}-<n>` };
}

const PROOF: Shape = {
  proof_id: numbered('proof'),
  goal: TEXT,
  status: { is: (value) => value === 'proved' || value === 'unproved', wanted: '"proved" or "unproved"' },
  confidence: SHARE,
  depth: { is: (value) => Number.isSafeInteger(value) && (value as number) >= 0, wanted: 'an integer from 0 on' },
  nodes: ARRAY,
  edges: ARRAY,
};

const FACT: Shape = { id: TEXT, fact: TEXT, predicate: TEXT, args: CONSTANTS, confidence: SHARE };

const SHAPE_OF_KIND: Readonly<Record<string, Shape>> = {
  evidence: FACT,
  conclusion: {
    ...FACT,
    rule_id: TEXT,
    rule_tag: numbered('RULE'),
    step_tag: numbered('STEP'),
    premises: { is: (value) => isArrayOf(value, isText), wanted: 'an array of node ids' },
  },
  absence: { id: TEXT, predicate: TEXT, args: CONSTANTS },
  guard: {
    id: TEXT,
    compare: {
      is: (value) =>
        Array.isArray(value) && value.length === 3 && isConstant(value[0]) && isOp(value[1]) && isConstant(value[2]),
      wanted: 'an array [constant, operator, constant]',
    },
  },
};

/** Additional fields of evidence about an edge. Evidence has all of them or none. */
const HEDGE: Shape = { hedge_tag: TEXT, edge_id: INTEGER, table: TEXT, event_ts: INTEGER };

const EDGE: Shape = {
  from: TEXT,
  to: TEXT,
  role: { is: (value) => value === 'premise', wanted: '"premise"' },
};

function checkNode(node: unknown, at: number, problems: string[]): void {
  const place = `nodes[${at}]`;
  if (!isRecord(node)) return void problems.push(`${place} must be an object, not ${shown(node)}`);
  const shape = isText(node.kind) && Object.hasOwn(SHAPE_OF_KIND, node.kind) ? SHAPE_OF_KIND[node.kind] : undefined;
  if (shape === undefined)
    return void problems.push(`${place}.kind must be one of ${Object.keys(SHAPE_OF_KIND).join(', ')}`);
  check(node, shape, `${place}.`, problems);
  if (node.kind === 'evidence' && Object.keys(HEDGE).some((field) => node[field] !== undefined))
    check(node, HEDGE, `${place}.`, problems);
}

function checkEdge(edge: unknown, at: number, problems: string[]): void {
  if (isRecord(edge)) check(edge, EDGE, `edges[${at}].`, problems);
  else problems.push(`edges[${at}] must be an object, not ${shown(edge)}`);
}

function check(fields: Fields, shape: Shape, place: string, problems: string[]): void {
  for (const [name, { is, wanted }] of Object.entries(shape))
    if (!is(fields[name])) problems.push(`${place}${name} must be ${wanted}, not ${shown(fields[name])}`);
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
