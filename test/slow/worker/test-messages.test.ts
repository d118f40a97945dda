import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { callWith } from '../../support/api.ts'
import { crashAt } from '../../support/crashes.ts'
import { createProvider, createReceiptEngine } from '../../support/receipts.ts'
import { seedPeople } from '../../support/seeding/customers.ts'
import { write } from '../../support/seeding/rows.ts'
import { givenTestDesk, listTests } from '../../support/test-messages.ts'

it('a test message is sent once, whichever call to the database of its request fails', async () => {
  for (let step = 1; ; step++) {
    const desk = await givenTestDesk()
    const [customer] = await seedPeople(desk, [{ first_name: 'Astrid' }])
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const to = [desk.manager.email, desk.editionManager.email]
    const body = { to, languages: ['en', 'da'], user_id: customer?.id }
    const send = (bindings: object = {}) =>
      callWith(bindings, `/v1/email-messages/${desk.message}/send-test`, { body, headers })
    const { bindings, hasCrashed } = crashAt(step)
    const reply = await send(bindings)
    const rows = await listTests(desk.organization)
    expect([step, [0, 4].includes(rows.length)]).toEqual([step, true])
    if (!hasCrashed()) {
      expect(reply.status).toBe(200)
      expect(step).toBeGreaterThan(8)
      break
    }
    await write(sql`update idempotency_keys set claimed_until = 0 where status is null`)
    const repeated = await send()
    expect([step, repeated.status, repeated.body.remaining]).toEqual([step, 200, 46])
    const provider = createProvider({ deduplicates: false })
    await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
    const arrived = provider.calls.map(({ email }) => `${email.to.address} ${email.subject}`).toSorted()
    expect([step, arrived]).toEqual([
      step,
      to.flatMap((address) => [`${address} [Test] Hej Astrid`, `${address} [Test] Hello Astrid`]).toSorted(),
    ])
  }
}, 120_000)
