// Writes of nodes: each is one transaction, which is repeated if another commit changes the same
// node meanwhile.

import { isUtf8 } from 'node:buffer';
import type { Database, Table, Transaction } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import { invalidFields, parseInteger, WriteAnswer } from '../http/index.ts';
import { requireObject, textStart } from '../http/json-body.ts';
import type { PropertyValue } from '../model/column-types.ts';
import { changedNode, type GivenNode, type NodeTableFacts, readNode, wholeNode } from '../model/node-input.ts';
import { keyProblem, type NodeKey } from '../model/node-refs.ts';
import type { Call } from './application.ts';
import { atLine, BYTES_PER_STEP, isBlank, MOST_LINE_BYTES, notUtf8, parseLine, tooLong } from './bulk-insert.ts';
import { requireStatements } from './query.ts';

const NEWLINE = 10;
/** Nodes that are staged in one step; each is looked up first. */
const NODES_PER_STEP = 64;
const BODY = ['body'] as const;
const INTEGER = 'must be an integer of at most 2^53-1, written in digits';

/** What a write answers with. */
export interface Written {
  readonly body: string;
  readonly lsn: number;
}

/** A node table with what the checks of its nodes need. */
export interface NodeTarget {
  readonly table: Table;
  readonly facts: NodeTableFacts;
}

/** Returns the node table that a path names. Throws `table_not_found`. */
export function targetOf({ nodes }: Database, name: string): NodeTarget {
  const table = nodes.table(name);
  return { table, facts: { columns: table.columns, keyName: nodes.keyName(table), kind: nodes.kind(table) } };
}

/** Returns the key that a path names. Throws `invalid_input`. */
export function keyOfPath({ facts: { kind } }: NodeTarget, given: string): NodeKey {
  const key = kind.isInteger ? parseInteger(given) : given;
  const problem = Number.isNaN(key) ? INTEGER : keyProblem(key, kind);
  if (problem === undefined) return key;
  throw invalidFields([{ loc: ['path', 'key'], msg: problem }]);
}

export function nodeNotFound({ table }: NodeTarget, key: NodeKey): HedgerowError {
  return refusal('node_not_found', `There is no ${table.name} with the key ${JSON.stringify(key)}.`);
}

/**
 * Returns the node of a body that a path names. Throws `invalid_input` if the body has another key.
 */
export function readNodeAt(source: Record<string, unknown>, { facts }: NodeTarget, key: NodeKey): GivenNode {
  const given = readNode(source, facts, BODY);
  if (given.key === undefined || given.key === key) return given;
  const msg = `is ${JSON.stringify(given.key)}, but the path names ${JSON.stringify(key)}; the key of a node cannot be changed`;
  throw invalidFields([{ loc: ['body', facts.keyName], msg }]);
}

/** Returns the node of a body that must have a key. Throws `invalid_input`. */
function readWhole(source: Record<string, unknown>, { facts }: NodeTarget): GivenNode & { key: NodeKey } {
  const { key, attributes } = readNode(source, facts, BODY);
  if (key === undefined) throw invalidFields([{ loc: ['body', facts.keyName], msg: 'is missing' }]);
  return { key, attributes };
}

/**
 * Runs a write, and again after a conflict. `stage` stages it and returns the body of the answer.
 * Rejects with `conflict` after several attempts.
 */
export function writeNodes(
  call: Call,
  stage: (transaction: Transaction) => string | Promise<string>,
): Promise<Written> {
  return requireStatements(call).turns.run(async () => {
    const transaction = call.database.begin();
    let body: string;
    try {
      body = await stage(transaction);
    } catch (error) {
      transaction.rollback();
      throw error;
    }
    const { lsn } = await transaction.commit(new WriteAnswer<unknown>(call.once, 200, () => body).attach);
    return { body, lsn };
  });
}

/** Stages a whole node; returns true if it is new. */
function stageWhole(
  transaction: Transaction,
  { table }: NodeTarget,
  key: NodeKey,
  properties: Record<string, PropertyValue>,
): boolean {
  const number = transaction.findNode(table, key);
  if (number === 0) transaction.insertNode(table, properties);
  else change(transaction, table, number, properties);
  return number === 0;
}

function change(
  transaction: Transaction,
  table: Table,
  number: number,
  properties: Record<string, PropertyValue>,
): void {
  transaction.changeRow(table, { eventTs: number, id: number }, { event_ts: number, members: [number], properties });
}

/** Stages a node with these attributes, and defaults for the others. Returns its row as JSON. */
export function stagePut(transaction: Transaction, target: NodeTarget, key: NodeKey, given: GivenNode): string {
  const node = wholeNode(target.facts, key, given.attributes);
  stageWhole(transaction, target, key, node);
  return JSON.stringify(node);
}

/** Stages changes of some attributes. Returns the row as JSON. Throws `node_not_found`. */
export function stagePatch(
  { nodes }: Database,
  transaction: Transaction,
  target: NodeTarget,
  key: NodeKey,
  given: GivenNode,
): string {
  const number = transaction.findNode(target.table, key);
  if (number === 0) throw nodeNotFound(target, key);
  const [text] = nodes.texts(target.table, transaction.snapshotOf(target.table), [number]);
  const node = changedNode(target.facts, JSON.parse(text!) as Record<string, PropertyValue>, given.attributes);
  change(transaction, target.table, number, node);
  return JSON.stringify(node);
}

/** Stages the deletion of a node. Throws `node_not_found` or `node_in_use`. */
export function stageDelete(transaction: Transaction, target: NodeTarget, key: NodeKey): string {
  const { table } = target;
  const number = transaction.findNode(table, key);
  if (number === 0) throw nodeNotFound(target, key);
  transaction.deleteRow(table, { eventTs: number, id: number });
  return JSON.stringify({ table: table.name, key, deleted: true });
}

/** Stages one node of a body. Returns the body of the answer. */
export function stageOne(transaction: Transaction, target: NodeTarget, source: Record<string, unknown>): string {
  const { key, attributes } = readWhole(source, target);
  const isNew = stageWhole(transaction, target, key, wholeNode(target.facts, key, attributes));
  return countsBody(target, isNew ? 1 : 0, isNew ? 0 : 1);
}

/** Stages one node per line of the body, in steps. Resolves with the body of the answer. */
export async function stageLines(call: Call, transaction: Transaction, target: NodeTarget): Promise<string> {
  const { body } = call;
  const isText = isUtf8(body);
  let offset = textStart(body);
  let line = 0;
  let inserted = 0;
  let replaced = 0;
  const take = (text: string): void => {
    const { key, attributes } = readWhole(requireObject(parseLine(text), [...BODY]), target);
    if (stageWhole(transaction, target, key, wholeNode(target.facts, key, attributes))) inserted += 1;
    else replaced += 1;
  };
  const step = (): boolean => {
    const stop = offset + BYTES_PER_STEP;
    for (let i = 0; i < NODES_PER_STEP && offset < stop; i++) {
      if (offset >= body.length) return false;
      const newline = body.indexOf(NEWLINE, offset);
      const end = newline < 0 ? body.length : newline;
      line += 1;
      if (end - offset > MOST_LINE_BYTES) throw atLine(tooLong(), line);
      if (!isText && !isUtf8(body.subarray(offset, end))) throw atLine(notUtf8(), line);
      const text = body.toString('utf8', offset, end);
      offset = end + 1;
      if (!isBlank(text)) withLine(line, () => take(text));
    }
    return true;
  };
  if (step()) await call.services.scheduler.run('body', step);
  if (inserted + replaced === 0)
    throw refusal('invalid_input', 'The body contains no node; send one JSON object per line.');
  return countsBody(target, inserted, replaced);
}

/** Adds the number of the line to an error that its text has caused. */
function withLine(line: number, take: () => void): void {
  try {
    take();
  } catch (error) {
    // A conflict is not a fault of the line: all lines are written again.
    if (!(error instanceof HedgerowError) || error.status >= 500 || error.code === 'conflict') throw error;
    throw atLine(error, line);
  }
}

function countsBody({ table }: NodeTarget, inserted: number, replaced: number): string {
  return JSON.stringify({ table: table.name, inserted, replaced });
}
