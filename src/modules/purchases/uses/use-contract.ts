import { z } from '@hono/zod-openapi'
import { maxUses, purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { Id, IdParams, Instant } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { PurchaseUse } from '../contract.ts'

export const PurchaseUseResult = PurchaseUse.extend({
  purchase: z.object({
    id: Id('pur'),
    vendor_code: z.string().nullable().openapi({ description: 'Null when its source gave none.' }),
    status: z.enum(purchaseStatuses),
  }),
}).openapi('PurchaseUseResult')

const UseParams = IdParams('pur').extend({
  use_id: z.string().openapi({ param: { name: 'use_id', in: 'path' }, example: 'use_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
})

export const createPurchaseUse = operation({
  id: 'createPurchaseUse',
  tag: 'Purchases',
  method: 'post',
  path: '/v1/purchases/{id}/uses',
  summary: 'Use a purchase',
  description:
    'Counts uses of an active purchase, as a scanner at an entrance does, and announces `purchase.action` with the action `used`. Of scans at the same moment only as many succeed as the purchase has uses left; the others are 409 `no_uses_left`. The last use makes its status `used`; a purchase without a limit stays active. With an `Idempotency-Key` a scanner repeats a request that got no answer without counting twice.',
  roles: ['OA', 'OM', 'EA', 'EM'],
  status: 201,
  params: IdParams('pur'),
  body: z.object({
    quantity: z.int().min(1).max(maxUses).optional().openapi({ default: 1 }),
    location_id: Id('loc').nullish().openapi({ description: 'A location of the edition.' }),
    used_at: Instant.optional().openapi({
      description: 'When it was scanned, for scanners that were offline: not in the future, not before the purchase.',
    }),
  }),
  example: { quantity: 1 },
  response: PurchaseUseResult,
  errors: ['no_uses_left', 'purchase_not_usable', 'edition_archived'],
})

export const revertPurchaseUse = operation({
  id: 'revertPurchaseUse',
  tag: 'Purchases',
  method: 'post',
  path: '/v1/purchases/{id}/uses/{use_id}/revert',
  summary: 'Revert a use',
  description:
    'Gives the uses back and announces `purchase.action` with the action `use_reverted`: a used purchase is active again. A use that was reverted before is answered as it is, and nothing is announced.',
  roles: ['OA', 'OM', 'EA', 'EM'],
  params: UseParams,
  response: PurchaseUseResult,
  errors: ['purchase_not_usable', 'edition_archived'],
})
