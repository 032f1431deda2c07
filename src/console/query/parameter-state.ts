// The texts in the fields of parameters, kept over reloads with the statement.

import { storeDraft, storedDraft } from '../drafts.ts';
import { effect, signal } from '../preact.ts';
import { session } from '../session.ts';

/**
 * What is written into the field of a parameter, and what it is taken for when a person has said
 * so.
 */
export interface ParameterField {
  readonly text: string;
  readonly kind?: ParameterKind;
}
export type ParameterKind = 'any' | 'number' | 'text' | 'boolean' | 'time' | 'list' | 'null';
export type ParameterFields = Readonly<Record<string, ParameterField>>;
/** By the names of the parameters; those of statements that were there before are kept. */
export const parameterFields = signal<ParameterFields>(storedFields());

/** Names of parameters may be those of what every object has. */
export function fieldOf(name: string): ParameterField {
  return Object.hasOwn(parameterFields.value, name) ? parameterFields.value[name]! : { text: '' };
}

function storedFields(): ParameterFields {
  try {
    return JSON.parse(storedDraft('parameters') || '{}') as ParameterFields;
  } catch {
    return {};
  }
}

effect(() => {
  // Nothing of one who has signed out stays.
  if (session.value === undefined) parameterFields.value = {};
  const fields = parameterFields.value;
  storeDraft('parameters', Object.keys(fields).length > 0 ? JSON.stringify(fields) : '');
});
