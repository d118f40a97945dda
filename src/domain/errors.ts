import { describeRoles, type RoleCode } from './accounts/access.ts'
import type { FieldCode, FieldError } from './field-error.ts'

export type { FieldError }

/** The most related objects that a refusal or a healthcheck names. */
export const maxRelatedObjects = 20

/** The HTTP status of every error code of the API. */
export const errorStatus = {
  validation_error: 400,
  malformed_body: 400,
  malformed_request: 400,
  checksum_mismatch: 400,
  empty_file: 400,
  invalid_image: 400,
  type_mismatch: 400,
  not_authenticated: 401,
  sign_in_failed: 401,
  permission_denied: 403,
  insufficient_scope: 403,
  recent_sign_in_required: 403,
  sign_in_method_unavailable: 403,
  above_limit: 403,
  shared_customer: 403,
  site_not_allowed: 403,
  not_found: 404,
  invalid_page: 404,
  page_too_deep: 400,
  method_not_allowed: 405,
  request_timeout: 408,
  address_suppressed: 409,
  approval_required: 409,
  delivery_already_succeeded: 409,
  delivery_in_progress: 409,
  edition_archived: 409,
  edition_not_publishable: 409,
  email_message_in_use: 409,
  email_message_locked: 409,
  email_message_not_template: 409,
  email_missing: 409,
  endpoint_inactive: 409,
  four_eyes_required: 409,
  column_mapping_incomplete: 409,
  fee_rule_in_use: 409,
  file_in_use: 409,
  import_has_invalid_rows: 409,
  import_limit: 409,
  import_running: 409,
  product_in_use: 409,
  product_merging: 409,
  product_mapping_incomplete: 409,
  storage_full: 409,
  upload_completed: 409,
  upload_incomplete: 409,
  idempotency_in_progress: 409,
  idempotency_answer_lost: 409,
  campaign_not_ready: 409,
  campaign_not_started: 409,
  catalogue_full: 409,
  consent_has_records: 409,
  consent_inactive: 409,
  consent_required: 409,
  invalid_transition: 409,
  last_admin: 409,
  location_in_use: 409,
  merchant_account_in_use: 409,
  merchant_not_ready: 409,
  no_uses_left: 409,
  order_has_uses: 409,
  nothing_to_retry: 409,
  nothing_to_refund: 409,
  queue_missing: 409,
  receipt_sent_recently: 409,
  receipt_unavailable: 409,
  purchase_not_usable: 409,
  purchase_not_refundable: 409,
  segment_calculating: 409,
  segment_in_use: 409,
  segment_not_ready: 409,
  segment_not_stuck: 409,
  signup_closed: 409,
  sms_test_unavailable: 409,
  sender_domain_taken: 409,
  too_many_merchant_accounts: 409,
  too_many_sender_domains: 409,
  transaction_not_captured: 409,
  user_busy: 409,
  user_erased: 409,
  wallet_pass_unavailable: 409,
  write_conflict: 409,
  events_expired: 410,
  import_data_deleted: 410,
  precondition_failed: 412,
  body_too_large: 413,
  file_too_large: 413,
  unsupported_file_type: 415,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  idempotency_key_reused: 422,
  orders_refused: 422,
  users_refused: 422,
  rate_limited: 429,
  test_limit_reached: 429,
  too_many_streams: 429,
  client_closed_request: 499,
  internal_error: 500,
  idempotency_unavailable: 503,
  identity_unavailable: 503,
  overloaded: 503,
  sealing_unavailable: 503,
  wallet_unavailable: 503,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus

export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  /** Extra members of the problem document. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      errors?: readonly FieldError[]
      extra?: Record<string, unknown>
      headers?: Record<string, string>
      /** It is logged and never sent to the client. */
      cause?: unknown
    } = {},
  ) {
    super(detail, { cause: options.cause })
    this.code = code
    this.errors = options.errors ?? []
    this.extra = options.extra ?? {}
    this.headers = options.headers ?? {}
  }
}

export type FieldPath = readonly PropertyKey[]

/** A client's field name can be as long as a body, so errors repeat only its beginning. */
const maxNameLength = 128

const listSteps = (path: FieldPath): string[] => path.map((step) => String(step).slice(0, maxNameLength))

/** A JSON pointer (RFC 6901) as a URI fragment: `#/blocks/0/type`. */
export const pointerTo = (path: FieldPath): string =>
  `#${listSteps(path)
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')}`

/** A literal code must have an entry in the error guide. Computed codes are plain strings. */
type KnownFieldCode<Code extends string> = string extends Code ? Code : FieldCode

export const fieldError = <Code extends string>(
  path: FieldPath,
  code: KnownFieldCode<Code> & Code,
  detail: string,
): FieldError => ({
  code,
  detail,
  attr: listSteps(path).join('.') || null,
  pointer: pointerTo(path),
})

export const parameterError = <Code extends string>(
  name: string | null,
  code: KnownFieldCode<Code> & Code,
  detail: string,
): FieldError => ({
  code,
  detail,
  attr: name && name.slice(0, maxNameLength),
  pointer: null,
})

const addSuggestion = (text: string, suggestion: string | null): string =>
  suggestion === null ? text : `${text} Did you mean \`${suggestion}\`?`

export const unknownFieldError = (path: FieldPath, suggestion: string | null): FieldError =>
  fieldError(path, 'unknown_field', addSuggestion('This field does not exist.', suggestion))

export const unknownParameterError = (name: string, suggestion: string | null): FieldError =>
  parameterError(name, 'unknown_parameter', addSuggestion('This parameter does not exist.', suggestion))

/** Names of nested fields can be long. */
const maxAttrLength = 100

/** Says the first error, and how many others there are. `listed` is how many `errors` contains. */
export function describeErrors(errors: readonly FieldError[], listedErrors = errors.length): string {
  const [first] = errors
  if (!first) return 'The request is invalid.'
  const sentences = [first.attr === null || first.attr.length > maxAttrLength ? '' : `\`${first.attr}\`:`, first.detail]
  const others = errors.length - 1
  if (others === 1) sentences.push('1 more field is invalid.')
  if (others > 1) sentences.push(`${others} more fields are invalid.`)
  if (listedErrors < errors.length) sentences.push(`The first ${listedErrors} are in \`errors\`.`)
  return sentences.filter(Boolean).join(' ')
}

export const invalid = (...errors: FieldError[]): AppError =>
  new AppError('validation_error', describeErrors(errors), { errors })

export const invalidCursor = (): AppError =>
  invalid(
    parameterError(
      'cursor',
      'invalid_cursor',
      'This cursor belongs to another list, filter, ordering or page. Follow `next` unchanged, or send no cursor.',
    ),
  )

/** A resource that the caller may not see gets the same error, so that the response does not reveal that it exists. */
export const notFound = (detail = 'Not found.'): AppError => new AppError('not_found', detail)

/** Refuses an id in a body. An id of another tenant gets the same error, so that it does not reveal that it exists. */
export const doesNotExist = (...path: string[]): AppError =>
  invalid(fieldError(path, 'does_not_exist', 'No object with this id exists, or you may not see it.'))

export const editionArchived = (): AppError =>
  new AppError(
    'edition_archived',
    'This edition is archived. Send `is_archived: false` for the edition before you change anything in it.',
  )

export const storageFull = (): AppError =>
  new AppError('storage_full', 'The organisation has reached its storage limit. Delete files that you no longer need.')

export const importLimit = (): AppError =>
  new AppError('import_limit', 'Two imports of this organisation are running already. Wait until one has finished.')

/** An edition role may not change a customer of other editions, or take the address of one. */
export const sharedCustomer = (): AppError =>
  new AppError(
    'shared_customer',
    'Other editions of the organisation may know this customer. Ask an admin or a manager of the organisation to make this change.',
    { extra: { required_roles: ['OA', 'OM'] } },
  )

/** `instead` tells the caller what else to do. By default it names the required roles. */
export const permissionDenied = (
  requiredRoles: readonly RoleCode[],
  errors: readonly FieldError[] = [],
  instead = describeRoles(requiredRoles),
): AppError =>
  new AppError('permission_denied', `Your role does not allow this operation. ${instead}`, {
    errors,
    extra: { required_roles: requiredRoles },
  })

/** Another request changed the same rows first. Nothing was written, so the request can be run again. */
export class LostRace extends Error {
  constructor(cause: unknown) {
    super('Another request was faster.', { cause })
  }
}
