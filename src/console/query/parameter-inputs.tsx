// Shows a field for the value, and one for the type, of each parameter of the statement.

import { tables } from '../state.ts';
import { parametersOf } from '../statement-words.ts';
import '../style/views.css';
import { fieldOf, type ParameterField, type ParameterKind, parameterFields } from './parameter-state.ts';
import { KINDS, kindIn, valuesFor } from './parameter-values.ts';
import { statement } from './query-state.ts';
import type { Parameters } from './run-statement.ts';

/**
 * Returns the parameter values for the statement that is run. Throws an Error with a message for
 * the user if a field is empty, or does not contain a value of its kind.
 */
export const parameterValues = (own: string): Parameters => valuesFor(own, tables.value, fieldOf);

const PLACEHOLDERS: Readonly<Record<ParameterKind, string>> = {
  any: 'number, text or list',
  number: '42',
  text: 'text, without quotes',
  boolean: '',
  time: '2024-05-13T10:00:00',
  list: '1, 2, 3',
  null: '',
};

export function ParameterInputs({ onRun }: { onRun: () => void }) {
  const text = statement.value;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would show a frame and a legend.
    <div class="parameters" role="group" aria-label="Parameters">
      {parametersOf(text).map((name) => (
        <Parameter key={name} name={name} guess={kindIn(text, name, tables.value)} onRun={onRun} />
      ))}
    </div>
  );
}

function Parameter({ name, guess, onRun }: { name: string; guess: ParameterKind; onRun: () => void }) {
  const field = fieldOf(name);
  const kind = field.kind ?? guess;
  const put = (changed: Partial<ParameterField>) => {
    parameterFields.value = { ...parameterFields.value, [name]: { ...field, ...changed } };
  };
  const id = `parameter-${name}`;
  const common = { id, value: field.text, disabled: kind === 'null' };
  return (
    <div class="parameter">
      <label for={id}>${name}</label>
      {kind === 'boolean' ? (
        <select {...common} onChange={({ currentTarget: { value } }) => put({ text: value })}>
          <option value="">choose</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : (
        <input
          {...common}
          type="text"
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          autocomplete="off"
          spellcheck={false}
          placeholder={PLACEHOLDERS[kind]}
          onInput={({ currentTarget: { value } }) => put({ text: value })}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onRun();
          }}
        />
      )}
      <select
        aria-label={`Kind of $${name}`}
        value={kind}
        onChange={({ currentTarget: { value } }) => put({ kind: value as ParameterKind })}
      >
        {KINDS.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}
