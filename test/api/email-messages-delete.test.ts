import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { LostRace } from '../../src/domain/errors.ts'
import { deleteEmailMessage } from '../../src/modules/email-messages/delete.ts'
import { findMessage } from '../../src/modules/email-messages/queries.ts'
import { get, patch, remove } from '../support/api.ts'
import { createContextAt } from '../support/context.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { db, freshId, seededAt, write } from '../support/seeding/rows.ts'
import { buildWorld, type Who, type World } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await buildWorld()
})

const token = (who: Who) => world.people[who].token
const path = (id: string) => `/v1/email-messages/${id}`
const tenant = () => ({ organization: world.a.id, edition: world.a.editions[0].id })
const storedRow = async (id: string) =>
  db.first(sql<Record<string, unknown>>`select * from email_messages where id = ${id}`)

describe('deleteEmailMessage', () => {
  it('deletes the message and everything stored for it', async () => {
    const id = await seedMessage(tenant())
    await write(sql`insert into email_renditions (message_id, language, content_hash, subject, html, text, created_at)
      values (${id}, 'en', 'x', 'x', 'x', 'x', 1)`)
    expect((await remove(path(id), token('EM'))).status).toBe(204)
    expect((await get(path(id))).status).toBe(404)
    expect(await db.all(sql`select * from email_renditions where message_id = ${id}`)).toEqual([])
  })

  it('is refused while an edition, a trigger or a campaign refers to the message, and names them', async () => {
    const [edition] = world.a.editions
    const receipt = await seedMessage(tenant(), { type: 'receipt' })
    await patch(`/v1/editions/${edition.id}`, { transaction_receipt_email_id: receipt })
    const reply = await remove(path(receipt), token('OA'))
    expect(describeRefusal(reply)).toBe('409 email_message_in_use')
    expect(reply.body.related_objects).toMatchObject([
      { type: 'edition', id: edition.id },
      { type: 'trigger', name: 'receipt' },
    ])
    await patch(`/v1/editions/${edition.id}`, { transaction_receipt_email_id: null })
    expect((await remove(path(receipt), token('OA'))).status).toBe(204)

    const mailed = await seedMessage(tenant(), { type: 'campaign' })
    const segment = freshId('segment')
    const campaign = freshId('campaign')
    const at = seededAt
    await write(
      sql`insert into segments (id, organization_id, edition_id, name, name_key, search, communication_type,
          communication_channel, expression, is_time_dependent, status, created_at, modified_at)
        values (${segment}, ${world.a.id}, ${edition.id}, 'All', 'all', 'all', 'marketing', 'email', 'true', 0, 'draft', ${at}, ${at})`,
      sql`insert into campaigns (id, organization_id, edition_id, segment_id, name, name_key, search, channel, email_message_id,
          status, created_at, modified_at)
        values (${campaign}, ${world.a.id}, ${edition.id}, ${segment}, 'Early birds', 'early birds', 'x', 'email', ${mailed}, 'scheduled', ${at}, ${at})`,
    )
    const refusal = await remove(path(mailed), token('OA'))
    expect([refusal.status, refusal.body.related_objects]).toEqual([
      409,
      [{ type: 'campaign', id: campaign, name: 'Early birds' }],
    ])
    expect(await storedRow(mailed)).toBeDefined()
  })
})

describe('a message that an edition begins to use while it is deleted', () => {
  it('stays when the edition uses it before the deletion is stored', async () => {
    const [edition] = world.a.editions
    const id = await seedMessage(tenant(), { type: 'receipt' })
    const ctx = createContextAt(seededAt)
    const row = await findMessage(ctx, id)
    const batch = ctx.db.batch.bind(ctx.db)
    ctx.db.batch = async (statements) => {
      await write(sql`update editions set transaction_receipt_email_id = ${id} where id = ${edition.id}`)
      return batch(statements)
    }
    await expect(deleteEmailMessage(ctx, row)).rejects.toBeInstanceOf(LostRace)
    expect(await storedRow(id)).toBeDefined()
  })

  it('is either kept or not used', async () => {
    for (let round = 0; round < 12; round++) {
      const edition = world.a.editions[round % 2]?.id ?? ''
      const id = await seedMessage({ organization: world.a.id, edition: null }, { type: 'receipt' })
      const use = () => patch(`/v1/editions/${edition}`, { transaction_receipt_email_id: id }, token('OA'))
      const drop = () => remove(path(id), token('OA'))
      const [used, removed] =
        round % 3 ? await Promise.all([use(), drop()]) : (await Promise.all([drop(), use()])).toReversed()
      const isThere = (await storedRow(id)) !== undefined
      const isSent = (await get(`/v1/editions/${edition}`)).body.transaction_receipt_email_id === id
      expect([used?.status, removed?.status, isThere, isSent]).toEqual(
        isThere ? [200, 409, true, true] : [400, 204, false, false],
      )
    }
  })
})
