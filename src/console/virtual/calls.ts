// The requests of the view of virtual graphs. Specifications are what the user has written; the
// service checks them.

import type {
  NewVirtualGraph,
  ProposeVirtualGraph,
  VirtualBackends,
  VirtualGraphList,
  VirtualQueryAnswer,
} from '../../client/index.ts';
import { Virtual } from '../../client/virtual.ts';
import { connection } from '../session.ts';

export type GraphList = VirtualGraphList['graphs'];
export type Backends = VirtualBackends['backends'];
export type VirtualAnswer = VirtualQueryAnswer;

const virtual = () => new Virtual(connection());

export const virtualGraphs = {
  backends: async () => (await virtual().backends()).backends,
  list: async () => (await virtual().list()).graphs,
  get: (id: string) => virtual().get(id),
  propose: (backend: Record<string, string>, id: string) =>
    virtual().propose({ backend: backend as ProposeVirtualGraph['backend'], id, name: id }),
  create: (spec: unknown) => virtual().create(spec as NewVirtualGraph),
  replace: (id: string, spec: unknown) => virtual().replace(id, spec as NewVirtualGraph),
  remove: (id: string) => virtual().delete(id),
  query: (id: string, query: string, limit: number) => virtual().query(id, query, { limit }),
};
