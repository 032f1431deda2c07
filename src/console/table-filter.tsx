// The field above a long list of tables: what is typed leaves those whose names hold it.

import { countText } from './format.ts';
import './style/views.css';

interface Props {
  readonly text: string;
  /** Tables that are left, and all of them. */
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
