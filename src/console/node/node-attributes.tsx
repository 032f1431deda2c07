// The attributes of a node, which can be changed, and the button that deletes the node.

import type { Node, NodeTable } from '../../client/index.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Empty, Failure } from '../failure.tsx';
import { keyText, type NodePlace } from '../node-link.tsx';
import { useEffect, useState } from '../preact.ts';
import { dataChanged, revision } from '../state.ts';
import { AttributeForm } from './attribute-form.tsx';
import { changeNode, deleteNode, readNode } from './node-calls.ts';

interface Props {
  readonly place: NodePlace;
  readonly kind: NodeTable;
}

export function NodeAttributes({ place, kind }: Props) {
  /** Null: there is no such node. */
  const [node, setNode] = useState<Node | null | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [isEditing, setEditing] = useState(false);
  const [isDeleted, setDeleted] = useState(false);
  const now = revision.value;
  useEffect(() => {
    readNode(place, kind).then((row) => setNode(row ?? null), setError);
  }, [place, now]);
  /** Does what the user asked for. Resolves with false if it failed. */
  const attempt = async (write: () => Promise<void>) => {
    try {
      await write();
      setError(undefined);
    } catch (failed) {
      setError(failed);
      return false;
    }
    await dataChanged();
    return true;
  };
  const save = async (attributes: Node) => {
    const isNothing = Object.keys(attributes).length === 0;
    if (isNothing || (await attempt(() => changeNode(place, kind, attributes)))) setEditing(false);
  };
  const remove = async () => setDeleted(await attempt(() => deleteNode(place, kind)));
  if (node === null)
    return (
      <Empty title={isDeleted ? 'The node is deleted' : `${place.table} has no such node`}>
        {isDeleted
          ? 'An edge or an import with its key creates it anew.'
          : 'It was deleted, or its key is written differently: upper and lower case make different keys.'}
      </Empty>
    );
  return (
    <>
      <Failure error={error} title={node === undefined ? 'The node cannot be shown' : 'Nothing was changed'} />
      {node === undefined ? (
        error === undefined && <p class="quiet">Looking it up ...</p>
      ) : isEditing ? (
        <AttributeForm kind={kind} node={node} onSave={save} onCancel={() => setEditing(false)} />
      ) : (
        <>
          <Attributes kind={kind} node={node} />
          <div class="bar">
            {kind.columns.length > 0 && (
              <button type="button" onClick={() => setEditing(true)}>
                Change attributes
              </button>
            )}
            <ConfirmButton label="Delete" what={`the node ${keyText(place.key)}`} onConfirm={remove} />
          </div>
        </>
      )}
    </>
  );
}

function Attributes({ kind, node }: { kind: NodeTable; node: Node }) {
  return (
    <dl class="fields">
      {[kind.key, ...kind.columns].map(({ name }) => {
        const value = node[name] ?? null;
        return (
          <div key={name}>
            <dt>{name}</dt>
            {value === null || value === '' ? (
              <dd class="quiet">
                <i>{value === null ? 'null' : 'empty text'}</i>
              </dd>
            ) : (
              <dd class="attribute">
                <bdi>{name === kind.key.name ? keyText(value as string | number) : String(value)}</bdi>
              </dd>
            )}
          </div>
        );
      })}
    </dl>
  );
}
