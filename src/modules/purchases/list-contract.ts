import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../domain/accounts/access.ts'
import { purchaseStatuses } from '../../domain/orders/purchases.ts'
import { Id } from '../../http/fields.ts'
import { ListPage, type ListFilters, IdFilter, listQuery, TextFilter } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'
import { Purchase } from './contract.ts'

export const PurchaseListItem = Purchase.extend({
  order: z.object({
    id: Id('ord'),
    order_number: z.string().nullable().openapi({ description: 'Null for an order that came without one.' }),
  }),
}).openapi('PurchaseListItem')

export const listPurchases = operation({
  id: 'listPurchases',
  tag: 'Purchases',
  method: 'get',
  path: '/v1/purchases',
  summary: 'List purchases',
  description:
    '`edition_id` is required. Looking a purchase up by `vendor_code` or `search` costs the same however many purchases the edition has.',
  roles: roleCodes,
  query: listQuery({
    ordering: ['created'],
    filters: {
      edition_id: IdFilter.optional(),
      vendor_code: TextFilter.optional().openapi({ description: 'All of it; the case of A to Z does not matter.' }),
      status: z.enum(purchaseStatuses).optional(),
      search: TextFilter.optional().openapi({
        description: 'The beginning of the code, or all of an order number, an order id or a purchase id.',
      }),
    },
  }),
  response: ListPage(PurchaseListItem),
})

export type PurchaseFilters = ListFilters<typeof listPurchases.query>
