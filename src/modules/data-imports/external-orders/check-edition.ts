import { normalizePhone } from '../../../domain/accounts/users.ts'
import { type FieldError, fieldError, type FieldPath } from '../../../domain/errors.ts'
import type { ExternalOrder } from '../../../domain/orders/external-orders.ts'
import type { ImportDefinitions } from '../../consents/index.ts'

/** Checks that the edition asks for the consents of an order. `path` leads to the order. */
export const checkConsents = (
  definitions: ImportDefinitions,
  consents: ExternalOrder['consents'],
  path: FieldPath,
): FieldError[] =>
  Object.keys(consents).flatMap((key) => {
    const definition = definitions.get(key)
    const keyPath = [...path, 'consents', key]
    if (!definition) return [fieldError(keyPath, 'does_not_exist', 'This edition has no consent with this key.')]
    return definition.is_active ? [] : [fieldError(keyPath, 'consent_inactive', 'This consent is not active.')]
  })

/**
 * Converts the phone number of an order's customer to E.164. A customer who has an e-mail address is imported without a
 * number that is none.
 */
export function normalizeCustomerPhone(
  order: ExternalOrder,
  countryCode: string | null,
  path: FieldPath,
): { order: ExternalOrder } | { error: FieldError } {
  const { customer } = order
  const phone_number = customer.phone_number && normalizePhone(customer.phone_number, countryCode)
  if (customer.phone_number && phone_number === null && customer.email === null) {
    const phonePath = [...path, 'customer', 'phone_number']
    return { error: fieldError(phonePath, 'invalid_phone', 'This is not a phone number.') }
  }
  return { order: { ...order, customer: { ...customer, phone_number } } }
}
