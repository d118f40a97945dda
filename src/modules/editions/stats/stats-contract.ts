import { z } from '@hono/zod-openapi'
import { roleCodes } from '../../../domain/accounts/access.ts'
import { currencies } from '../../../domain/money.ts'
import { orderStatuses } from '../../../domain/orders/orders.ts'
import { purchaseStatuses } from '../../../domain/orders/purchases.ts'
import { refundStatuses } from '../../../domain/refunds/refunds.ts'
import { Amount, Count, Id, IdParams, orNull } from '../../../http/fields.ts'
import { operation } from '../../../http/operations/operation.ts'
import { Choices, describeChoices } from '../../../http/requests/list-query.ts'

export const statsGroups = ['day', 'product', 'status'] as const
export type StatsGroup = (typeof statsGroups)[number]

export const maxStatsGroups = 10_000

const Day = z.iso
  .date('Must be a date such as 2026-06-01.')
  .openapi({ format: 'date', maxLength: 10, example: '2026-06-01' })

const GroupDate = z.iso.date().nullable().openapi({
  example: '2026-06-01',
  description: 'The day in the time zone of the edition. Null unless grouped by it.',
})
const GroupProduct = orNull(z.object({ api_id: Id('prd'), name: z.string() })).openapi({
  description: 'Null unless grouped by it.',
})
const nullUnlessGrouped = { description: 'Null unless grouped by it.' }
const common = { date: GroupDate, currency: z.enum(currencies), count: Count }

export const EditionStats = z
  .object({
    edition_id: Id('edt'),
    timezone: z.string().openapi({ description: 'The time zone in which days begin.', example: 'Europe/Copenhagen' }),
    from: z.iso.date().nullable().openapi({ description: 'The first day that counts. Null when all do.' }),
    to: z.iso.date().nullable().openapi({ description: 'The last day that counts. Null when all do.' }),
    orders: z
      .array(
        z.object({ ...common, status: z.enum(orderStatuses).nullable().openapi(nullUnlessGrouped), amount: Amount() }),
      )
      .max(maxStatsGroups)
      .openapi({ description: 'Orders by the time of their creation.' }),
    purchases: z
      .array(
        z.object({
          ...common,
          product: GroupProduct,
          status: z.enum(purchaseStatuses).nullable().openapi(nullUnlessGrouped),
          price_paid: Amount(),
          deposit_paid: Amount(),
          handling_fee_paid: Amount(),
        }),
      )
      .max(maxStatsGroups)
      .openapi({ description: 'Purchases by the time of their creation.' }),
    uses: z
      .array(z.object({ date: GroupDate, product: GroupProduct, count: Count }))
      .max(maxStatsGroups)
      .openapi({
        description: 'Uses that are not reverted, by the time of the use. `count` adds up their quantities.',
      }),
    refunds: z
      .array(
        z.object({
          ...common,
          status: z.enum(refundStatuses).nullable().openapi(nullUnlessGrouped),
          requested_amount: Amount(),
          refunded_amount: Amount(),
        }),
      )
      .max(maxStatsGroups)
      .openapi({ description: 'Refund requests by the time of their creation.' }),
  })
  .openapi('EditionStats')

export const getEditionStats = operation({
  id: 'getEditionStats',
  tag: 'Editions',
  method: 'get',
  path: '/v1/editions/{id}/stats',
  summary: 'Retrieve the statistics of an edition',
  description: `Adds up the orders, purchases, uses and refund requests of the edition as they are now, as their lists have them. Amounts of different currencies are never added. An answer has at most ${maxStatsGroups} groups.`,
  roles: roleCodes,
  params: IdParams('edt'),
  query: z.object({
    from: Day.optional().openapi({ description: 'The first day. By default everything counts.' }),
    to: Day.optional().openapi({ description: 'The last day. By default everything counts.' }),
    group_by: Choices(statsGroups)
      .optional()
      .transform((groups): readonly StatsGroup[] => groups ?? statsGroups)
      .openapi({
        ...describeChoices(statsGroups),
        description: 'What else than the currency to group by, separated by commas. Default: day, product, status.',
      }),
  }),
  response: EditionStats,
})

export type StatsQuery = z.output<typeof getEditionStats.query>
