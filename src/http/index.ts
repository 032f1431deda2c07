// The public interface of the HTTP layer: the parts of a route, the service that serves routes, and
// the transports below it.

export { type AnswerFormat, formatOf, JSON_FORMAT } from './answer/format.ts';
export { OPENINGS, type Opening } from './answer/openings.ts';
export { type AnswerFrame, type AnswerText, writeAnswer } from './answer/write-answer.ts';
export { bytesOf, writeAscii, writeInteger, writeNumber } from './byte-text.ts';
export { chooseTransport, transportLine } from './choose-transport.ts';
export type { AnswerStore, DatabasePort } from './database-port.ts';
export { checkDeadline, queryTimeout } from './deadline.ts';
export type { EntityTag } from './entity-tag.ts';
export { detailOf } from './error-reply.ts';
export { invalidFields, kindOf } from './field-errors.ts';
export { headerText } from './header-names.ts';
export { parseInteger } from './integers.ts';
export { jsonProblem } from './json-depth.ts';
export {
  type ElectionPort,
  type LeaderPort,
  noMemory,
  type OwnLeader,
  type PassedAnswer,
  type PassedRequest,
} from './leader.ts';
export { JSON_BODY, JSON_OR_NDJSON_BODY, JSON_TYPE, NDJSON_TYPE, NO_BODY } from './media.ts';
export { untilVisible } from './min-lsn.ts';
export { type Once, WriteAnswer } from './once.ts';
export { buildDocument, documentSteps, type Tag } from './openapi/document.ts';
export type { BodyExamples } from './openapi/operation.ts';
export { decodeText, givenTwice, nameEnd, parameterEnd, queryObject } from './query-text.ts';
export {
  type ChunkSource,
  contentReply,
  jsonReply,
  jsonTextReply,
  notModified,
  type Reply,
  type ReplyFacts,
  tagged,
} from './reply.ts';
export type { Call, Carried, HttpServices, Route, Services } from './route.ts';
export { type Application, type Service, type ServiceOptions, startService } from './service.ts';
export type {
  HttpServer,
  ListenOptions,
  RequestHandler,
  TlsFiles,
  Transport,
  TransportFacts,
  TransportRequest,
  TransportResponse,
} from './transport.ts';
export { cannotListen } from './transport.ts';
export { type ValidatedDefinition, validated } from './validated.ts';
