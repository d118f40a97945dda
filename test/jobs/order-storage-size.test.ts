import { env } from 'cloudflare:workers'
import { expect, it } from 'vitest'
import { anOrder, importOrders, seedShop } from '../support/seeding/sales/orders.ts'

const bytesOfDatabase = async (): Promise<number> => (await env.DB.prepare('select 1').run()).meta.size_after ?? 0

/** docs/scaling.md states 3,500. How full the pages of the database are is random. */
const bytesOfAnOrder = 3_560

/** Four of five names have only the letters a to z. */
const names = ['Anna Sørensen', 'Peter Holm', 'Marie Hansen', 'Thomas Nielsen', 'Julie Weber'].map((name) => {
  const [first_name, last_name] = name.split(' ')
  return { first_name, last_name }
})

it('an imported order with a new customer and 1.5 purchases takes no more space than is documented', async () => {
  const shop = await seedShop()
  let orderCount = 0
  const take = async (calls: number) => {
    for (let call = 0; call < calls; call++)
      await importOrders(
        shop,
        Array.from({ length: 100 }, () => {
          orderCount++
          return anOrder({
            customer: { email: `guest-${orderCount}@example.dk`, ...names[orderCount % names.length] },
            items: [{ product: 'Day ticket', quantity: 1 + (orderCount % 2), unit_price: 225 }],
          })
        }),
      )
  }
  await take(3)
  const before = await bytesOfDatabase()
  await take(15)
  const bytes = ((await bytesOfDatabase()) - before) / 1500
  expect(bytes).toBeGreaterThan(500)
  expect(bytes).toBeLessThan(bytesOfAnOrder)
})
