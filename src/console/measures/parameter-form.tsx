// Generates a form from the JSON schema of a measure's parameters.

import { useId } from '../preact.ts';

export interface ParameterSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
}

export interface ObjectSchema {
  readonly properties?: Readonly<Record<string, ParameterSchema>>;
  readonly required?: readonly string[];
}

/** The texts of the fields, by parameter. An empty text leaves the parameter out. */
export type FieldTexts = Readonly<Record<string, string>>;

/**
 * Converts the texts of the fields to the types of the schema. Throws an Error with a message for
 * the user if a text does not fit the type of its parameter.
 */
export function valuesOf(schema: ObjectSchema, texts: FieldTexts): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(schema.properties ?? {})) {
    const text = texts[name]?.trim() ?? '';
    if (text !== '') values[name] = fieldValue(name, parameter, text);
  }
  return values;
}

function fieldValue(name: string, { type, enum: choices }: ParameterSchema, text: string): unknown {
  if (choices !== undefined || type === 'string') return text;
  if (isNode(type)) return /^(?:-?\d+$|[{"])/.test(text) ? jsonOr(text) : text;
  if (type === 'boolean') return text === 'true';
  if (type === 'integer' || type === 'number') {
    const value = Number(text);
    if (!Number.isFinite(value)) throw new Error(`${name} must be a number, not ${text}.`);
    return value;
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${name} must be JSON, such as {"1": 0, "2": 1}.`);
  }
}

/** Returns whether a parameter is a node: a number, a key or an object with kind and key. */
function isNode(type: ParameterSchema['type']): boolean {
  return Array.isArray(type) && type.includes('integer') && type.includes('object');
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface FormProps {
  readonly schema: ObjectSchema;
  readonly texts: FieldTexts;
  readonly onChange: (texts: FieldTexts) => void;
  /** Parameters whose fields are elsewhere on the page. */
  readonly without: ReadonlySet<string>;
}

export function ParameterForm({ schema, texts, onChange, without }: FormProps) {
  const names = Object.keys(schema.properties ?? {}).filter((name) => !without.has(name));
  return (
    <div class="form">
      {names.map((name) => (
        <Field
          key={name}
          name={name}
          schema={schema.properties![name]!}
          text={texts[name] ?? ''}
          onChange={(text) => onChange({ ...texts, [name]: text })}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly schema: ParameterSchema;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

function Field({ name, schema, text, onChange }: FieldProps) {
  const id = useId();
  const change = (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value);
  const common = { id, value: text, 'aria-describedby': `${id}-help` };
  const fallback = schema.default === undefined ? '' : String(schema.default);
  const choices = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined);
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  return (
    <div class="field">
      <label for={id}>{name}</label>
      {choices !== undefined ? (
        <select {...common} onChange={change}>
          <option value="">{fallback === '' ? 'default' : `${fallback} (default)`}</option>
          {choices
            .filter((choice) => choice !== fallback)
            .map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
        </select>
      ) : isNumber ? (
        <input
          {...common}
          type="number"
          step={schema.type === 'integer' ? 1 : 'any'}
          {...(schema.minimum === undefined ? {} : { min: schema.minimum })}
          placeholder={fallback}
          onInput={change}
        />
      ) : isNode(schema.type) ? (
        <input {...common} type="text" spellcheck={false} onInput={change} />
      ) : (
        <textarea {...common} rows={2} spellcheck={false} placeholder="JSON" onInput={change} />
      )}
      <p id={`${id}-help`} class="quiet help">
        {schema.description}
      </p>
    </div>
  );
}
