// Adds to an error message the environment variables of the settings that the error concerns. The
// code that throws the error names only the settings, because an embedding program passes them as
// options, not as variables.

import type { HedgerowError, SettingKey } from '../errors.ts';
import { DSN_VARIABLE, type SettingName, variableOf } from './settings.ts';

/** Returns the message of an error with a sentence that names the variables of its settings. */
export function messageWithSettings({ message, fields }: HedgerowError): string {
  const { settings = [] } = fields ?? {};
  return settings.length === 0 ? message : `${message} ${settingsSentence(settings)}`;
}

/** Returns "See the settings HEDGEROW_LLM_BASE_URL and HEDGEROW_LLM_MODEL.", for example. */
export function settingsSentence(settings: readonly SettingKey[]): string {
  const names = settings.map(variableOfKey);
  if (names.length === 1) return `See the setting ${names[0]}.`;
  return `See the settings ${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}.`;
}

function variableOfKey(key: SettingKey): string {
  if (key === 'virtualDsn') return `${DSN_VARIABLE}<NAME>`;
  if (key.startsWith('virtualDsn.')) return DSN_VARIABLE + key.slice('virtualDsn.'.length).toUpperCase();
  return variableOf(key as SettingName);
}
