// The form that changes the attributes of a node.

import type { Node, NodeTable } from '../../client/index.ts';
import { type ColumnType, kindOfType } from '../../model/column-types.ts';
import { Failure } from '../failure.tsx';
import { useState } from '../preact.ts';

interface Props {
  readonly kind: NodeTable;
  readonly node: Node;
  /** Receives the attributes that the user has changed. */
  readonly onSave: (attributes: Node) => Promise<void>;
  readonly onCancel: () => void;
}

/** What the user has put into a field: a text, or null. */
type Drafts = ReadonlyMap<string, string | null>;

export function AttributeForm({ kind, node, onSave, onCancel }: Props) {
  const [drafts, setDrafts] = useState<Drafts>(new Map());
  const [error, setError] = useState<unknown>(undefined);
  const [isBusy, setBusy] = useState(false);
  const save = async (event: Event) => {
    event.preventDefault();
    setError(undefined);
    setBusy(true);
    try {
      await onSave(attributesOf(drafts, kind));
    } catch (failed) {
      setError(failed);
    }
    setBusy(false);
  };
  return (
    <form class="rule-editor" onSubmit={save}>
      <div class="form">
        {kind.columns.map((column) => (
          <Field
            key={column.name}
            name={column.name}
            type={column.type}
            value={drafts.has(column.name) ? drafts.get(column.name)! : textOf(node[column.name])}
            onChange={(value) => setDrafts(new Map([...drafts, [column.name, value]]))}
          />
        ))}
      </div>
      <Failure error={error} title="Nothing was changed" />
      <div class="bar">
        <button type="submit" class="primary" disabled={isBusy}>
          Save
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly name: string;
  readonly type: ColumnType;
  readonly value: string | null;
  readonly onChange: (value: string | null) => void;
}

function Field({ name, type, value, onChange }: FieldProps) {
  const id = `attribute-${name}`;
  const input = {
    id,
    value: value ?? '',
    placeholder: value === null ? 'null' : '',
    onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>
        {name} <span class="quiet">{type}</span>
      </label>
      {type === 'TEXT' ? (
        <textarea {...input} rows={2} />
      ) : type === 'BOOLEAN' ? (
        <select {...input}>
          {value === null && <option value="">null</option>}
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : (
        <input {...input} type="text" inputMode="decimal" autocomplete="off" />
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={value === null}
          onChange={(event) => onChange(event.currentTarget.checked ? null : type === 'BOOLEAN' ? 'true' : '')}
        />
        null<span class="sr-only"> for {name}</span>
      </label>
    </div>
  );
}

function textOf(value: Node[string] | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** Throws an Error with a sentence for the user. */
function attributesOf(drafts: Drafts, { columns }: NodeTable): Node {
  // An object without a prototype, because an attribute may be called `__proto__`.
  const attributes: Node = Object.create(null);
  for (const { name, type } of columns) {
    const text = drafts.get(name);
    if (text !== undefined) attributes[name] = text === null ? null : valueIn(text, name, type);
  }
  return attributes;
}

function valueIn(text: string, name: string, type: ColumnType): string | number | boolean {
  const kind = kindOfType(type);
  if (kind === 'text') return text;
  if (kind === 'boolean') return text === 'true';
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (kind === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number)) return number + 0;
  throw new Error(`${name} takes ${kind === 'integer' ? 'an integer' : 'a number'}, or null.`);
}
