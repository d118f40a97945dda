import { fieldError, invalid } from '../../domain/errors.ts'
import { isPaymentService, isServiceOpen } from '../../domain/refunds/merchant-accounts.ts'

interface AccountInput {
  provider_account?: string | null | undefined
  api_key?: string | null | undefined
  webhook_secret?: string | null | undefined
  settle_manually?: boolean | undefined
  is_active?: boolean | undefined
}

const stripeFields = ['provider_account', 'api_key', 'webhook_secret'] as const

/** Refuses what an account of the type does not have, and a type that pays nothing back where money is real. */
export function checkFields(type: string, given: AccountInput, environment: string): void {
  const foreign = type === 'stripe' ? [] : stripeFields.filter((name) => (given[name] ?? null) !== null)
  const faults = foreign.map((name) => fieldError([name], 'type_mismatch', 'Only accounts of type stripe have this.'))
  if (given.settle_manually && type !== 'manual')
    faults.push(fieldError(['settle_manually'], 'type_mismatch', 'Only accounts of type manual have this.'))
  if (given.is_active && isPaymentService(type) && !isServiceOpen(type, environment))
    faults.push(fieldError(['type'], 'not_in_production', 'Test accounts are for development.'))
  if (faults.length) throw invalid(...faults)
}
