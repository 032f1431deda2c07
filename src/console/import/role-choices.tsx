// The fields that say which role the members in a column have, and of which node table they are.

import { useId } from '../preact.ts';
import type { Mapping } from './mapping.ts';

interface Props {
  readonly mapping: Mapping;
  /** The node tables that can be chosen; undefined if members are numbers. */
  readonly nodeTables: readonly string[] | undefined;
  readonly onChange: (changed: Partial<Mapping>) => void;
}

export function RoleChoices({ mapping, nodeTables, onChange }: Props) {
  const { memberColumns, roles, kinds } = mapping;
  const id = useId();
  if (memberColumns.length === 0) return null;
  return (
    <details class="roles" open={roles.size + kinds.size > 0}>
      <summary>Roles{nodeTables !== undefined && ' and kinds'}</summary>
      <datalist id={id}>
        {nodeTables?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {memberColumns.map((column) => (
        <div key={column} class="role">
          <span>{column}</span>
          <input
            type="text"
            aria-label={`Role of ${column}`}
            placeholder="no role"
            value={roles.get(column) ?? ''}
            onInput={(event) => onChange({ roles: withValue(roles, column, event.currentTarget.value) })}
          />
          {nodeTables !== undefined && (
            <input
              type="text"
              list={id}
              aria-label={`Node table of ${column}`}
              placeholder="node table"
              value={kinds.get(column) ?? ''}
              onInput={(event) => onChange({ kinds: withValue(kinds, column, event.currentTarget.value) })}
            />
          )}
        </div>
      ))}
    </details>
  );
}

function withValue(map: ReadonlyMap<string, string>, column: string, value: string): Map<string, string> {
  const changed = new Map(map);
  if (value.trim() === '') changed.delete(column);
  else changed.set(column, value.trim());
  return changed;
}
