// Parses an edge of a spec: its shape, columns and members.

import { DEFAULT_MAX_MEMBERS } from '../../limits.ts';
import { hint, shown } from '../identifiers.ts';
import {
  choiceAt,
  type Faults,
  type Fields,
  LABEL_FORM,
  listAt,
  MAX_NAME,
  nameAt,
  objectAt,
  type Place,
  textAt,
} from './fields.ts';
import type { EdgeSpec, MemberSpec } from './spec.ts';

/** Maximum number of columns in a group key. */
const MAX_GROUP_COLUMNS = 16;
const SHAPES = ['row', 'group'] as const;

/**
 * Parses an edge. `nodeLabels` are the labels that its members may name, or undefined if the nodes
 * themselves are invalid.
 */
export function edgeAt(
  value: unknown,
  place: Place,
  faults: Faults,
  nodeLabels: readonly string[] | undefined,
): EdgeSpec | undefined {
  const fields = objectAt(value, place, faults);
  if (fields === undefined) return undefined;
  const label = nameAt(fields.label, [...place, 'label'], faults, LABEL_FORM);
  const shape = choiceAt(fields.shape, [...place, 'shape'], faults, { known: SHAPES, what: 'shape' });
  const table = textAt(fields.table, [...place, 'table'], faults, MAX_NAME);
  const ts_column = textAt(fields.ts_column, [...place, 'ts_column'], faults, MAX_NAME);
  const members = membersAt(fields.members, [...place, 'members'], faults, nodeLabels);
  if (shape === undefined || label === undefined) return undefined;
  const head = { label, table: table ?? '', ts_column: ts_column ?? '' };
  if (shape === 'row') {
    const row_member_columns = memberColumnsAt(fields, [...place, 'row_member_columns'], faults, members);
    return { ...head, shape, row_member_columns, members };
  }
  return { ...head, shape, ...groupAt(fields, place, faults, members), members };
}

function membersAt(
  value: unknown,
  place: Place,
  faults: Faults,
  nodeLabels: readonly string[] | undefined,
): MemberSpec[] {
  const members: MemberSpec[] = [];
  for (const [index, item] of listAt(value, place, faults, DEFAULT_MAX_MEMBERS).entries()) {
    const at = [...place, index];
    const fields = objectAt(item, at, faults);
    if (fields === undefined) continue;
    const name = nameAt(fields.name, [...at, 'name'], faults, LABEL_FORM);
    const role = textAt(fields.role, [...at, 'role'], faults, MAX_NAME);
    const node_label = nodeLabelAt(fields.node_label, [...at, 'node_label'], faults, nodeLabels);
    if (name === undefined) continue;
    if (members.some((other) => other.name.toLowerCase() === name.toLowerCase()))
      faults.add([...at, 'name'], `is ${name}, a name that occurs twice (case is ignored)`);
    members.push({ name, node_label: node_label ?? '', role: role ?? '' });
  }
  return members;
}

/** Parses the node label of a member. Returns it in the spelling that the node has. */
function nodeLabelAt(
  value: unknown,
  place: Place,
  faults: Faults,
  nodeLabels: readonly string[] | undefined,
): string | undefined {
  const given = textAt(value, place, faults, MAX_NAME);
  if (given === undefined || nodeLabels === undefined) return undefined;
  const found = nodeLabels.find((label) => label.toLowerCase() === given.toLowerCase());
  if (found === undefined)
    faults.add(place, `is ${shown(given)}, which is not a label in nodes${hint(given, nodeLabels)}`);
  return found;
}

/**
 * Returns the column of each member, by the member's name. Reports members without a column, and
 * columns without a member.
 */
function memberColumnsAt(
  fields: Fields,
  place: Place,
  faults: Faults,
  members: readonly MemberSpec[],
): Record<string, string> {
  const given = objectAt(fields.row_member_columns, place, faults);
  if (given === undefined) return {};
  const columns: [string, string][] = [];
  for (const { name } of members) {
    const column = Object.hasOwn(given, name) ? given[name] : undefined;
    if (column === undefined) faults.add(place, `lacks the column of the member ${name}`);
    else columns.push([name, textAt(column, [...place, name], faults, MAX_NAME) ?? '']);
  }
  const names = members.map(({ name }) => name);
  for (const other of Object.keys(given)
    .filter((name) => !names.includes(name))
    .slice(0, MOST_EXTRA))
    faults.add(place, `has a column for ${shown(other)}, which is not a name in members${hint(other, names)}`);
  // A member may be called __proto__, and a plain assignment would set the prototype.
  return Object.fromEntries(columns);
}

const MOST_EXTRA = 10;

function groupAt(
  fields: Fields,
  place: Place,
  faults: Faults,
  members: readonly MemberSpec[],
): { group_columns: string[]; member_column: string } {
  if (members.length > 1)
    faults.add([...place, 'members'], 'has several entries, but in a group one entry describes every member');
  const at = [...place, 'group_columns'];
  const group_columns: string[] = [];
  for (const [index, item] of listAt(fields.group_columns, at, faults, MAX_GROUP_COLUMNS).entries()) {
    const column = textAt(item, [...at, index], faults, MAX_NAME);
    if (column === undefined) continue;
    if (group_columns.includes(column)) faults.add([...at, index], `is ${shown(column)}, which occurs twice`);
    group_columns.push(column);
  }
  const member_column = textAt(fields.member_column, [...place, 'member_column'], faults, MAX_NAME) ?? '';
  return { group_columns, member_column };
}
