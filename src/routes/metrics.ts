// Answers with all metrics of the service, to be read by a scraper such as Prometheus.

import { contentReply } from '../http/index.ts';
import { v } from '../http/schema.ts';
import { type Route, validated } from './application.ts';

const metrics = validated({
  id: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  role: 'readonly',
  summary: 'Metrics of the service, its data and its process, in Prometheus text form.',
  database: false,
  isOfService: true,
  answerTypes: ['text/plain'],
  answers: { 200: v.string() },
  handler: async (_input, { services }) => {
    const { contentType, text } = await services.observer.metrics(await services.workers?.metrics());
    return contentReply(200, contentType, text);
  },
});

export const metricsRoutes: readonly Route[] = [metrics];
