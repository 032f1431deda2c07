// Writes nodes as texts: by their names, or by their numbers if they have none.

export type NodeNames = ReadonlyMap<number, string>;

const MOST_CHARACTERS = 60;

/** Separator between members; not a comma, because names may contain commas. */
export const BETWEEN_MEMBERS = ' · ';

export function nodeText(names: NodeNames, node: number): string {
  const name = names.get(node);
  if (name === undefined) return String(node);
  return name.length > MOST_CHARACTERS ? `${name.slice(0, MOST_CHARACTERS - 1)}…` : name;
}

/** Returns the first `most` of the members and the number of the others. */
export function membersText(
  members: readonly number[],
  names: NodeNames,
  most = Infinity,
  textOf = (node: number, _at: number) => nodeText(names, node),
): string {
  const shown = members.slice(0, most).map(textOf);
  return `${shown.join(names.size === 0 ? ', ' : BETWEEN_MEMBERS)}${members.length > most ? ` and ${members.length - most} more` : ''}`;
}
