// The form for a language model of the user's own: its address, name and key. The key is stored
// nowhere but in the field of this form.

import type { AskInput } from '../../client/index.ts';

export interface OwnModel {
  readonly baseUrl: string;
  readonly model: string;
  readonly key: string;
}

export const NO_MODEL: OwnModel = { baseUrl: '', model: '', key: '' };

/** Returns the fields of the request. Empty ones are left out, so the service's settings apply. */
export function modelFields({ baseUrl, model, key }: OwnModel): Partial<AskInput> {
  return {
    ...(baseUrl.trim() === '' ? {} : { base_url: baseUrl.trim() }),
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(key.trim() === '' ? {} : { openai_api_key: key.trim() }),
  };
}

export function OwnModelForm({ value, onChange }: { value: OwnModel; onChange: (value: OwnModel) => void }) {
  const set = (field: keyof OwnModel) => (event: { currentTarget: HTMLInputElement }) =>
    onChange({ ...value, [field]: event.currentTarget.value });
  return (
    <fieldset class="form own-model">
      <legend class="sr-only">Language model</legend>
      <div class="field">
        <label for="model-url">Address</label>
        <input
          id="model-url"
          type="url"
          spellcheck={false}
          placeholder="default of the service"
          value={value.baseUrl}
          aria-describedby="model-url-help"
          onInput={set('baseUrl')}
        />
        <p id="model-url-help" class="quiet help">
          Of a chat-completions API, such as http://127.0.0.1:11434/v1. The service asks it, so
          HEDGEROW_LLM_ALLOWED_HOSTS must list its host.
        </p>
      </div>
      <div class="field">
        <label for="model-name">Model</label>
        <input
          id="model-name"
          type="text"
          spellcheck={false}
          placeholder="default of the service"
          value={value.model}
          onInput={set('model')}
        />
      </div>
      <div class="field">
        <label for="model-key">Key of the model</label>
        <input
          id="model-key"
          type="password"
          autocomplete="off"
          spellcheck={false}
          placeholder="none, or the default"
          value={value.key}
          aria-describedby="model-key-help"
          onInput={set('key')}
        />
        <p id="model-key-help" class="quiet help">
          Sent with each question and kept nowhere: leaving this view forgets it.
        </p>
      </div>
    </fieldset>
  );
}
