import { AppError, notFound } from '../../domain/errors.ts'
import { findParamPrefix } from '../fields.ts'
import type { Operation } from './operation.ts'

/** The filters that find what a client may have meant by another id. */
const findersByPrefix: Readonly<Record<string, string>> = {
  ord: '`GET /v1/orders?external_id=` finds an order by its id in another system.',
  pur: '`GET /v1/purchases?edition_id=&vendor_code=` finds a ticket by its code.',
  usr: '`GET /v1/user?search=` finds a customer by name, address or number.',
}

/**
 * Adds the expected prefix to a 404 when the id in the path has another prefix. That depends on its text alone, and not
 * on what exists.
 */
export function explainForeignId(
  error: unknown,
  { params }: Pick<Operation, 'params'>,
  id: string | undefined,
): unknown {
  const prefix = findParamPrefix(params, 'id')
  if (!(error instanceof AppError) || error.code !== 'not_found') return error
  if (prefix === null || id === undefined || id.startsWith(`${prefix}_`)) return error
  const finder = findersByPrefix[prefix]
  return notFound(`Not found. Ids in this path begin with \`${prefix}_\`.${finder ? ` ${finder}` : ''}`)
}
