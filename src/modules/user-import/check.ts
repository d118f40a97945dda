import { type ImportedUser, organizationStatuses } from '../../domain/accounts/imported-users.ts'
import { normalizePhone } from '../../domain/accounts/users.ts'
import { type FieldError, fieldError, type FieldPath } from '../../domain/errors.ts'
import type { ImportDefinitions } from '../consents/index.ts'

interface CheckScope {
  definitions: ImportDefinitions
  /** True if the caller may change what holds in the whole organisation. */
  is_of_organization: boolean
  now: number
}

function checkConsents({ definitions, is_of_organization, now }: CheckScope, user: ImportedUser, path: FieldPath) {
  return Object.entries(user.consents).flatMap(([key, { status, at }]): FieldError[] => {
    const definition = definitions.get(key)
    const keyPath = [...path, 'consents', key]
    if (!definition) return [fieldError(keyPath, 'does_not_exist', 'There is no consent with this key.')]
    if (definition.edition_id === null && !is_of_organization) {
      const detail = 'This consent belongs to the organisation, so only roles of the organisation import answers to it.'
      return [fieldError(keyPath, 'organization_role_required', detail)]
    }
    if (!definition.is_active && status !== 'withdrawn')
      return [fieldError(keyPath, 'consent_inactive', 'This consent is not active.')]
    return at !== null && at > now ? [buildFutureError([...keyPath, 'occurred_at'])] : []
  })
}

const buildFutureError = (path: FieldPath): FieldError =>
  fieldError(path, 'in_future', 'This time must not be in the future.')

/** Finds what refuses a customer. `path` leads to the customer. */
export function checkUser(scope: CheckScope, user: ImportedUser, path: FieldPath): FieldError[] {
  const { status, status_at } = user
  const statusErrors: FieldError[] = []
  if (status !== null && organizationStatuses.includes(status) && !scope.is_of_organization) {
    const detail = 'This status stops messages of the whole organisation, so only roles of the organisation import it.'
    statusErrors.push(fieldError([...path, 'status'], 'organization_role_required', detail))
  }
  if (status_at !== null && status_at > scope.now) statusErrors.push(buildFutureError([...path, 'status_at']))
  return [...statusErrors, ...checkConsents(scope, user, path)]
}

/**
 * Converts the phone number to E.164. A customer who has an e-mail address is imported without a number that is none, with
 * a warning.
 */
export function normalizeUserPhone(
  user: ImportedUser,
  countryCode: string | null,
  path: FieldPath,
): { user: ImportedUser; errors: FieldError[]; warnings: FieldError[] } {
  const text = user.phone_number
  const phone_number = text && normalizePhone(text, countryCode)
  const normalizedUser = { ...user, phone_number }
  if (!text || phone_number !== null) return { user: normalizedUser, errors: [], warnings: [] }
  const phonePath = [...path, 'phone_number']
  if (user.email === null) {
    const error = fieldError(phonePath, 'invalid_phone', 'This is not a phone number.')
    return { user: normalizedUser, errors: [error], warnings: [] }
  }
  const detail = `"${text.slice(0, 60)}" is not a phone number. The customer is imported without it.`
  return { user: normalizedUser, errors: [], warnings: [fieldError(phonePath, 'phone_not_taken', detail)] }
}
