// The panel for API keys, for admins: lists the keys, makes a new one and shows it once, and
// revokes keys.

import type { CreatedKey, Key, NewKey } from '../../client/index.ts';
import { HedgerowApiError } from '../../client/index.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Failure } from '../failure.tsx';
import { timeText } from '../format.ts';
import { useEffect, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import { connection } from '../session.ts';

const ROLES = [
  ['readonly', 'readonly: asks'],
  ['readwrite', 'readwrite: asks and writes'],
  ['admin', 'admin: everything'],
] as const;

export function KeyPanel() {
  const [keys, setKeys] = useState<readonly Key[] | 'forbidden' | undefined>(undefined);
  const [made, setMade] = useState<CreatedKey | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const attempt = async (work: () => Promise<void>) => {
    try {
      await work();
      setKeys(await connection().json<readonly Key[]>('listKeys'));
      setError(undefined);
    } catch (failed) {
      if (failed instanceof HedgerowApiError && failed.statusCode === 403) setKeys('forbidden');
      else setError(failed);
    }
  };
  useEffect(() => void attempt(async () => {}), []);
  return (
    <section class="panel" aria-label="API keys">
      <h2>API keys</h2>
      <Failure error={error} />
      {keys === 'forbidden' && <p class="quiet">Only an admin key may list, make and revoke keys.</p>}
      {made !== undefined && <MadeKey made={made} onDone={() => setMade(undefined)} />}
      {Array.isArray(keys) && (
        <>
          <KeyTable
            keys={keys}
            onRevoke={(id) => attempt(() => connection().json('revokeKey', { parameters: [id] }))}
          />
          <KeyForm
            onMake={(key) => attempt(async () => setMade(await connection().json('createKey', { body: key })))}
          />
        </>
      )}
    </section>
  );
}

function MadeKey({ made, onDone }: { made: CreatedKey; onDone: () => void }) {
  return (
    <div class="note note-good" role="status">
      <label for="made-key">The new {made.role} key. It is shown only now; copy it where it is needed.</label>
      <div class="bar">
        <input
          id="made-key"
          class="code made-key"
          readOnly
          value={made.plaintext_key}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" onClick={() => void navigator.clipboard?.writeText(made.plaintext_key)}>
          Copy
        </button>
        <button type="button" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  );
}

function KeyTable({ keys, onRevoke }: { keys: readonly Key[]; onRevoke: (id: string) => void }) {
  if (keys.length === 0) return <p class="quiet">No key but the one the service was started with.</p>;
  return (
    <Scrolling label="Keys" height="whole">
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">For</th>
            <th scope="col">Role</th>
            <th scope="col">Made</th>
            <th scope="col">Last used</th>
            <th scope="col">Ends</th>
            <th scope="col">
              <span class="sr-only">Revoke</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.key_id}>
              <td>
                {key.description === '' ? <span class="quiet">no description</span> : key.description}{' '}
                <span class="quiet key-id">{key.key_id}</span>
              </td>
              <td>{key.role}</td>
              <td class="number">{timeText(key.created_at).slice(0, 10)}</td>
              <td class="number">{key.last_used_at === null ? 'never' : timeText(key.last_used_at).slice(0, 16)}</td>
              <td class="number">{key.expires_at === null ? 'never' : timeText(key.expires_at).slice(0, 16)}</td>
              <td>
                <ConfirmButton label="Revoke" what={key.key_id} onConfirm={() => onRevoke(key.key_id)} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

function KeyForm({ onMake }: { onMake: (key: NewKey) => Promise<void> }) {
  const [role, setRole] = useState<NewKey['role']>('readonly');
  const [description, setDescription] = useState('');
  const [days, setDays] = useState('');
  const submit = (event: Event) => {
    event.preventDefault();
    const until = days.trim() === '' ? {} : { expires_days: Number(days) };
    void onMake({ role, ...(description.trim() === '' ? {} : { description: description.trim() }), ...until });
    setDescription('');
  };
  return (
    <form class="bar" onSubmit={submit} aria-label="New key">
      <label class="grow">
        New key for
        <input
          type="text"
          value={description}
          placeholder="who or what will use it"
          onInput={(event) => setDescription(event.currentTarget.value)}
        />
      </label>
      <label>
        Role{' '}
        <select value={role} onChange={({ currentTarget: { value } }) => setRole(value as NewKey['role'])}>
          {ROLES.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Days{' '}
        <input
          type="number"
          min={1}
          class="days"
          placeholder="for ever"
          value={days}
          onInput={(event) => setDays(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Make key</button>
    </form>
  );
}
