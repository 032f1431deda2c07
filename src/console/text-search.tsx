// The search field of a table with a text index: shows the best edges in the view for statements.

import { useState } from './preact.ts';
import { openView, wantedStatement } from './state.ts';
import { searchStatement } from './statement-words.ts';

interface Props {
  readonly table: string;
  /** Names of the columns of the text index. */
  readonly columns: readonly string[];
}

export function TextSearch({ table, columns }: Props) {
  const [words, setWords] = useState('');
  return (
    <form
      class="text-search"
      onSubmit={(event) => {
        event.preventDefault();
        if (words.trim() === '') return;
        wantedStatement.value = searchStatement(table, words.trim());
        openView('query');
      }}
    >
      <input
        type="search"
        aria-label={`Search the texts of ${table}`}
        placeholder={`Search ${columns.join(', ')}`}
        title={'Any of the words; "a phrase", +must, -not, prefix*'}
        autocomplete="off"
        value={words}
        onInput={({ currentTarget: { value } }) => setWords(value)}
      />
      <button type="submit">Search</button>
    </form>
  );
}
