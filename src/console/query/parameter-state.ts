// Keeps the texts in the fields of parameters, together with the statement, across reloads.

import { storeDraft, storedDraft } from '../drafts.ts';
import { effect, signal } from '../preact.ts';
import { session } from '../session.ts';

/** The text in the field of a parameter, and its kind if the user has chosen one. */
export interface ParameterField {
  readonly text: string;
  readonly kind?: ParameterKind;
}
export type ParameterKind = 'any' | 'number' | 'text' | 'boolean' | 'time' | 'list' | 'null';
export type ParameterFields = Readonly<Record<string, ParameterField>>;
/** Fields by the names of the parameters; those of earlier statements are kept. */
export const parameterFields = signal<ParameterFields>(storedFields());

/** Returns the field. Checks `hasOwn`, because a parameter may be called `constructor`. */
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
  // Clears the fields when the user signs out, so that no data of the user remains.
  if (session.value === undefined) parameterFields.value = {};
  const fields = parameterFields.value;
  storeDraft('parameters', Object.keys(fields).length > 0 ? JSON.stringify(fields) : '');
});
