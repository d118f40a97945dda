import type { FieldCode } from './error-guide.ts'
import type { FieldError } from './field-error.ts'
import { roleAdvice } from './accounts/roles-in-words.ts'

export type { FieldError }

/** Every refusal of the API by its stable code, with its HTTP status. */
export const errorStatus = {
  validation_error: 400,
  malformed_body: 400,
  malformed_request: 400,
  checksum_mismatch: 400,
  empty_file: 400,
  invalid_image: 400,
  type_mismatch: 400,
  not_authenticated: 401,
  permission_denied: 403,
  insufficient_scope: 403,
  above_limit: 403,
  shared_customer: 403,
  not_found: 404,
  invalid_page: 404,
  page_too_deep: 400,
  method_not_allowed: 405,
  request_timeout: 408,
  address_suppressed: 409,
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
  file_in_use: 409,
  import_has_invalid_rows: 409,
  import_limit: 409,
  import_running: 409,
  product_mapping_incomplete: 409,
  storage_full: 409,
  upload_completed: 409,
  upload_incomplete: 409,
  idempotency_in_progress: 409,
  idempotency_answer_lost: 409,
  campaign_not_ready: 409,
  consent_has_records: 409,
  consent_inactive: 409,
  consent_required: 409,
  invalid_transition: 409,
  last_admin: 409,
  merchant_account_in_use: 409,
  merchant_not_ready: 409,
  no_uses_left: 409,
  nothing_to_retry: 409,
  nothing_to_refund: 409,
  purchase_not_usable: 409,
  purchase_not_refundable: 409,
  segment_calculating: 409,
  segment_in_use: 409,
  segment_not_ready: 409,
  segment_not_stuck: 409,
  sender_domain_taken: 409,
  too_many_merchant_accounts: 409,
  too_many_sender_domains: 409,
  transaction_not_captured: 409,
  user_erased: 409,
  wallet_pass_unavailable: 409,
  write_conflict: 409,
  import_data_deleted: 410,
  precondition_failed: 412,
  body_too_large: 413,
  file_too_large: 413,
  unsupported_file_type: 415,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  idempotency_key_reused: 422,
  rate_limited: 429,
  client_closed_request: 499,
  internal_error: 500,
  idempotency_unavailable: 503,
  identity_unavailable: 503,
  overloaded: 503,
  sealing_unavailable: 503,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorStatus

export class AppError extends Error {
  readonly code: ErrorCode
  readonly errors: readonly FieldError[]
  /** Extension members of the problem document. */
  readonly extra: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      errors?: readonly FieldError[]
      extra?: Record<string, unknown>
      headers?: Record<string, string>
      /** The cause of the failure, for the log and never for the answer. */
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

type FieldPath = readonly PropertyKey[]

/** A client's field name may be as long as a body, so an answer repeats only its beginning. */
const maxStepLength = 128

const stepsOf = (path: FieldPath): string[] => path.map((step) => String(step).slice(0, maxStepLength))

/** RFC 6901 pointer in its URI fragment form, as RFC 9457 shows it: `#/blocks/0/type`. */
export const pointerTo = (path: FieldPath): string =>
  `#${stepsOf(path)
    .map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('')}`

/** A code that is written out has an entry in the guide; others are texts that a library or a table gives. */
type KnownFieldCode<Code extends string> = string extends Code ? Code : FieldCode

export const fieldError = <Code extends string>(
  path: FieldPath,
  code: KnownFieldCode<Code> & Code,
  detail: string,
): FieldError => ({
  code,
  detail,
  attr: stepsOf(path).join('.') || null,
  pointer: pointerTo(path),
})

export const parameterError = <Code extends string>(
  name: string | null,
  code: KnownFieldCode<Code> & Code,
  detail: string,
): FieldError => ({
  code,
  detail,
  attr: name && name.slice(0, maxStepLength),
  pointer: null,
})

const withHint = (what: string, meant: string | null): string =>
  meant === null ? `${what}.` : `${what}; did you mean \`${meant}\`?`

/** An unknown field of a body, with the name that may be meant. */
export const unknownField = (path: FieldPath, meant: string | null): FieldError =>
  fieldError(path, 'unknown_field', withHint('No such field', meant))

export const unknownParameter = (name: string, meant: string | null): FieldError =>
  parameterError(name, 'unknown_parameter', withHint('No such parameter', meant))

export const invalid = (...errors: FieldError[]): AppError =>
  new AppError(
    'validation_error',
    errors.length === 1 ? '1 field is invalid.' : `${errors.length} fields are invalid.`,
    {
      errors,
    },
  )

/** One answer for what does not exist and for what the caller may not see, so that it reveals nothing. */
export const notFound = (): AppError => new AppError('not_found', 'Not found.')

/** An id in a body that does not exist, or belongs to another tenant. The answer is the same in both cases. */
export const doesNotExist = (...path: string[]): AppError =>
  invalid(fieldError(path, 'does_not_exist', 'Object does not exist.'))

export const editionArchived = (): AppError => new AppError('edition_archived', 'This edition is archived.')

export const storageFull = (): AppError =>
  new AppError('storage_full', 'The organisation keeps as many bytes as it may.')

export const importLimit = (): AppError =>
  new AppError('import_limit', 'At most 2 imports of an organisation work at the same time.')

/** An edition role tries to change a person of other editions too, or to take the address of such a person. */
export const sharedCustomer = (): AppError =>
  new AppError(
    'shared_customer',
    'Other editions of the organisation may know this customer. Ask an admin or a manager of the organisation to make this change.',
    { extra: { required_roles: ['OA', 'OM'] } },
  )

/** `instead` is an alternative for the caller; without it the answer names the roles that may. */
export const permissionDenied = (
  requiredRoles: readonly string[],
  errors: readonly FieldError[] = [],
  instead = roleAdvice(requiredRoles),
): AppError =>
  new AppError('permission_denied', `Your role does not allow this operation. ${instead}`, {
    errors,
    extra: { required_roles: requiredRoles },
  })

/** Another writer was faster: nothing was written, and the request may be decided again on the new state. */
export class LostRace extends Error {
  constructor(cause: unknown) {
    super('Another writer was faster.', { cause })
  }
}
