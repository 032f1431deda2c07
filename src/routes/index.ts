// The route table with every route of the service, and the services that the routes use.

import { analyticsRoutes } from './analytics.ts';
import type { Route } from './application.ts';
import { backupRoutes } from './backup.ts';
import { batchRoutes } from './batch.ts';
import { changeRoutes } from './changes.ts';
import { consoleRoutes } from './console-page.ts';
import { descriptionRoutes } from './description.ts';
import { healthRoutes } from './health.ts';
import { hyperedgeRoutes } from './hyperedges.ts';
import { indexRoutes } from './indexes.ts';
import { keyRoutes } from './keys.ts';
import { logRoutes } from './log.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { memoryRoutes } from './memory.ts';
import { metricsRoutes } from './metrics.ts';
import { nodeTableRoutes } from './node-tables.ts';
import { nodeRoutes } from './nodes.ts';
import { oneEdgeRoutes } from './one-edge.ts';
import { patchEdgeRoutes } from './patch-edge.ts';
import { queryRoutes } from './query.ts';
import { reasonRoutes } from './reason.ts';
import { ruleRoutes } from './rules.ts';
import { tableRoutes } from './tables.ts';
import { virtualRoutes } from './virtual.ts';

export {
  type Keys,
  type Leader,
  type Rooms,
  type Route,
  routesApplication,
  type Service,
  type ServicesOfRoutes,
} from './application.ts';
export type { CursorRegistry } from './cursors.ts';

export const routes: readonly Route[] = [
  ...queryRoutes,
  ...healthRoutes,
  ...metricsRoutes,
  ...hyperedgeRoutes,
  ...oneEdgeRoutes,
  ...patchEdgeRoutes,
  ...maintenanceRoutes,
  ...tableRoutes,
  ...nodeTableRoutes,
  ...nodeRoutes,
  ...indexRoutes,
  ...batchRoutes,
  ...analyticsRoutes,
  ...ruleRoutes,
  ...reasonRoutes,
  ...memoryRoutes,
  ...virtualRoutes,
  ...changeRoutes,
  ...logRoutes,
  ...backupRoutes,
  ...keyRoutes,
  ...descriptionRoutes,
  ...consoleRoutes,
];
