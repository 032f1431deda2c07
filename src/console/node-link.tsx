// Links from nodes to their pages, for every place that shows the members of edges or the keys of
// nodes.

import { named } from './named.ts';
import { BETWEEN_MEMBERS, nodeText, useNodeNames } from './node-names.ts';
import { tables } from './state.ts';

/** A node: a key of a node table, or a number that occurs in a table of numbers. */
export interface NodePlace {
  readonly table: string;
  readonly key: number | string;
}

/** Returns the address of a node's page. Keys may contain anything, such as `/`, `#` or `..`. */
export function nodeAddress({ table, key }: NodePlace): string {
  return `#node/${encodeURIComponent(table)}/${encodeURIComponent(key)}`;
}

/** Returns a member of an edge as a node: a number, a key, or an object with kind and key. */
export function placeOf(member: unknown, table: string): NodePlace {
  const { kind, key } = (typeof member === 'object' && member !== null ? member : { key: member }) as {
    kind?: string;
    key: NodePlace['key'];
  };
  const item = named(tables.value, table);
  return { table: kind ?? (item?.nodes === 'named' ? item.member_tables[0]! : table), key };
}

/** Returns a key as it is shown. If nothing in it is visible, names its characters instead. */
export function keyText(key: NodePlace['key']): string {
  const text = String(key);
  if (!/^[\s\p{Cf}\p{M}\u3164]*$/u.test(text)) return text;
  return Array.from(text, (one) => `U+${one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`).join(' ');
}

/** The direction of writing in a text ends with it. */
export function NodeLink({ place, text }: { place: NodePlace; text?: string | undefined }) {
  return (
    <a class="node-link" href={nodeAddress(place)}>
      <bdi>{text ?? keyText(place.key)}</bdi>
    </a>
  );
}

/** The nodes of a list, such as the members of an edge of the table. */
export function NodeLinks({ members, table }: { members: readonly unknown[]; table: string }) {
  const names = useNodeNames(table);
  const isPlain = (member: unknown) => typeof member === 'number';
  return (
    <>
      {members.flatMap((member, at) => [
        at > 0 && (names.size === 0 && isPlain(member) ? ', ' : BETWEEN_MEMBERS),
        <NodeLink
          key={at}
          place={placeOf(member, table)}
          text={isPlain(member) ? nodeText(names, member as number) : undefined}
        />,
      ])}
    </>
  );
}
