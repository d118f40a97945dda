export {
  type Answer,
  type Client,
  type ClientOptions,
  createClient,
  type DataOf,
  ifChanged,
  ifUnchanged,
  type Init,
  type InitParam,
  type PathsOf,
} from './client.ts'
export {
  ApiError,
  type ErrorCode,
  type FieldProblem,
  isApiError,
  type OperationId,
  PreconditionFailedError,
} from './errors.ts'
export type { components, operations, paths } from './generated/schema.ts'
export { type ItemOf, type ListPath, paginate } from './pages.ts'
export type { RetryOptions } from './retries.ts'
export { type StreamedEvent, streamEvents, type StreamOptions, type StreamPath } from './streams.ts'
export { verifyWebhook, type WebhookEvent, WebhookVerificationError } from './webhooks.ts'
