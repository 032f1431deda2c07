// The field above a long list of tables: only tables whose names contain the typed text are listed.

import { countText } from './format.ts';
import './style/views.css';

interface Props {
  readonly text: string;
  /** Number of tables that match the text; `all` counts every table. */
  readonly shown: number;
  readonly all: number;
  readonly onChange: (text: string) => void;
  readonly onEnter: () => void;
}

export function TableFilter({ text, shown, all, onChange, onEnter }: Props) {
  return (
    <>
      <input
        type="search"
        aria-label="Filter tables"
        placeholder="Filter tables"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget: { value } }) => onChange(value)}
        onKeyDown={({ key }) => {
          if (key === 'Enter') onEnter();
        }}
      />
      <p class="quiet" aria-live="polite">
        {shown < all && `${shown} of ${countText(all, 'table')}`}
      </p>
    </>
  );
}
