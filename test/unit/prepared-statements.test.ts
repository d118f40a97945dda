import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { Database } from '../../src/db/database.ts'
import { newMeter } from '../../src/domain/meter.ts'
import { selectToken } from '../../src/modules/auth/authenticate.ts'
import {
  selectCartItems,
  selectEmails,
  selectPurchasesForOrganization,
  selectTransactions,
} from '../../src/modules/orders/detail.ts'
import { claimDue } from '../../src/modules/webhooks/delivery/claim.ts'
import { updateDeliveries, updateEndpoints } from '../../src/modules/webhooks/delivery/record.ts'

const orderId = 'ord_none'

// test/document/source-rules.test.ts compares the names with the prepared statements of the sources.
it.each([
  ['selectToken', () => selectToken({ now: 0, hash: '' })],
  ['selectCartItems', () => selectCartItems({ orderId })],
  ['selectPurchasesForOrganization', () => selectPurchasesForOrganization({ orderId })],
  ['selectTransactions', () => selectTransactions({ orderId })],
  ['selectEmails', () => selectEmails({ orderId })],
  ['claimDue', () => claimDue({ now: 0, until: 0, endpoints: '["whk_none"]' })],
  ['updateDeliveries', () => updateDeliveries({ rows: '[{"id":"whd_none"}]' })],
  ['updateEndpoints', () => updateEndpoints({ rows: '[{"id":"whk_none"}]' })],
])('%s can be run again with other values', async (_, buildStatement) => {
  const db = new Database(env.DB, newMeter())
  for (const statement of [buildStatement(), buildStatement()]) expect(await db.all<unknown>(statement)).toEqual([])
})
