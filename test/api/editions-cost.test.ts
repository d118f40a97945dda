import { describe, expect, it } from 'vitest'
import { createEdition } from '../../src/modules/editions/create.ts'
import { examineEdition } from '../../src/modules/editions/health/health.ts'
import { listEditions } from '../../src/modules/editions/list.ts'
import { readEditionChoices } from '../../src/modules/editions/meta/meta.ts'
import { findEdition } from '../../src/modules/editions/queries.ts'
import { updateEdition } from '../../src/modules/editions/update.ts'
import { createContextAt } from '../support/context.ts'
import { seedFeeRule } from '../support/seeding/catalogue.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { seedFile } from '../support/seeding/files.ts'
import { seedReceiptMessage } from '../support/seeding/messaging/email-messages.ts'
import { givenEvent, givenOrganization } from '../support/seeding/organizations.ts'
import { seedTrades } from '../support/seeding/sales/trades.ts'

/** Authentication adds one statement to each request. */
describe('the database', () => {
  it('answers getEdition with one query, and getEditionMeta with one', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    const ctx = createContextAt(Date.now(), {
      is_superuser: false,
      grants: [{ organization_id: organisation.id, edition_id: null, role: 'viewer' }],
    })
    await findEdition(ctx, edition.id)
    expect(ctx.db.meter).toMatchObject({ queries: 1, round_trips: 1 })
    await readEditionChoices(ctx, undefined)
    expect(ctx.db.meter).toMatchObject({ queries: 2, round_trips: 2 })
  })

  it('answers a page of listEditions with two simultaneous queries', async () => {
    const ctx = createContextAt(Date.now())
    await listEditions(
      ctx,
      { page: 1, size: 100, after: null },
      {
        ordering: [],
        organization_id: (await givenOrganization()).id,
      },
    )
    expect(ctx.db.meter).toMatchObject({ queries: 2, round_trips: 1 })
  })

  it('answers createEdition in three round trips', async () => {
    const organisation = await givenOrganization()
    const event = await givenEvent(organisation)
    const ctx = createContextAt(Date.now())
    await createEdition(ctx, {
      organization_id: organisation.id,
      event_id: event.id,
      name: '2026',
      timezone: 'UTC',
      default_country_code: '+45',
      default_language: 'en',
      tax_type: 'none',
    })
    expect(ctx.db.meter).toMatchObject({ queries: 4, round_trips: 3 })
  })

  it('answers updateEdition in two round trips, with one more for a name that campaigns show, and one more for all ids', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    const ctx = createContextAt(Date.now())
    await updateEdition(ctx, await findEdition(ctx, edition.id), { name: 'Cheap' })
    expect(ctx.db.meter).toMatchObject({ queries: 5, round_trips: 3 })
    const ids = {
      fee_rule_id: await seedFeeRule(organisation),
      meta_image_id: await seedFile({ organization: organisation.id, edition: null }),
      transaction_receipt_email_id: await seedReceiptMessage(organisation),
    }
    const other = createContextAt(Date.now())
    await updateEdition(other, await findEdition(other, edition.id), ids)
    expect(other.db.meter).toMatchObject({ queries: 9, round_trips: 3 })
  })

  it('answers getEditionHealthcheck with one batch of six statements, for any number of orders', async () => {
    const organisation = await givenOrganization()
    const edition = await seedEdition(organisation)
    const place = { organization: organisation.id, edition: edition.id }
    const cost = async () => {
      const ctx = createContextAt(Date.now())
      await examineEdition(ctx, await findEdition(ctx, edition.id))
      expect(ctx.db.meter).toMatchObject({ queries: 7, round_trips: 2 })
      return ctx.db.meter.rows_read
    }
    await seedTrades(place, 100)
    const before = await cost()
    await seedTrades(place, 300)
    // The second call adds a product.
    expect((await cost()) - before).toBeLessThan(5)
  })

  it('takes one more round trip to publish an edition', async () => {
    const edition = await seedEdition(await givenOrganization())
    const ctx = createContextAt(Date.now())
    await updateEdition(ctx, await findEdition(ctx, edition.id), { is_draft: false })
    expect(ctx.db.meter).toMatchObject({ queries: 9, round_trips: 3 })
  })
})
