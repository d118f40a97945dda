import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Ctx } from '../../../src/context.ts'
import { segments } from '../../../src/db/schema/segments.ts'
import { update } from '../../../src/db/write.ts'
import type { MemberRole } from '../../../src/domain/accounts/access.ts'
import type { CampaignStatus } from '../../../src/domain/campaigns/lifecycle.ts'
import { LostRace } from '../../../src/domain/errors.ts'
import { findAuthorizedCampaign } from '../../../src/modules/campaigns/checks.ts'
import { createCampaign } from '../../../src/modules/campaigns/create.ts'
import { deleteCampaign } from '../../../src/modules/campaigns/delete.ts'
import { pauseCampaign } from '../../../src/modules/campaigns/pause/pause.ts'
import type { LoadedCampaign } from '../../../src/modules/campaigns/queries.ts'
import { cancelCampaign } from '../../../src/modules/campaigns/transitions.ts'
import { scheduleCampaign } from '../../../src/modules/campaigns/transitions.ts'
import { sendCampaignNow } from '../../../src/modules/campaigns/transitions.ts'
import { updateCampaign } from '../../../src/modules/campaigns/update.ts'
import { findMessage } from '../../../src/modules/email-messages/queries.ts'
import { updateEmailMessage } from '../../../src/modules/email-messages/update.ts'
import { get, patch, post, remove, type Reply } from '../../support/api.ts'
import { loadCampaign } from '../../support/campaigns.ts'
import { createContextAt } from '../../support/context.ts'
import { describeRefusal } from '../../support/refusals.ts'
import { seedEdition } from '../../support/seeding/editions.ts'
import { seedAccount, seedMember, seedToken } from '../../support/seeding/members.ts'
import { seedCampaignInStatus, type Crowd, seedCrowd } from '../../support/seeding/messaging/campaigns.ts'
import { seedSegment } from '../../support/seeding/messaging/segments.ts'
import { db, write, formatHourFromNow } from '../../support/seeding/rows.ts'

let crowd: Crowd
let sibling: string
let manager: string

async function seedRoles(...roles: [role: MemberRole, edition?: string][]): Promise<string> {
  const account = await seedAccount()
  for (const [role, edition] of roles) await seedMember(account, { organization: crowd.organization, edition, role })
  return (await seedToken(account)).token
}

beforeAll(async () => {
  crowd = await seedCrowd(3)
  const event = await db.first(
    sql<{ event: string }>`select event_id as event from editions where id = ${crowd.edition}`,
  )
  sibling = (await seedEdition({ id: crowd.organization, event: event?.event ?? '' })).id
  manager = await seedRoles(['manager', crowd.edition])
})

const seedOrganizationSegment = () => seedSegment({ organization: crowd.organization, edition: null })
const counted = async () =>
  (await db.all(sql`select id from campaigns where organization_id = ${crowd.organization}`)).length
/** Moves the segment of a campaign to the whole organisation or to an edition. */
const moveSegment = (campaignId: string, edition_id: string | null) =>
  write(update(segments, { edition_id }, sql`id = (select segment_id from campaigns where id = ${campaignId})`))

async function seedCampaignTo(edition: string | null, status: CampaignStatus): Promise<string> {
  const id = await seedCampaignInStatus(crowd, status)
  await moveSegment(id, edition)
  return id
}

const verbs: [name: string, status: CampaignStatus, call: (id: string, token?: string) => Promise<Reply>][] = [
  ['changing the name', 'draft', (id, token) => patch(`/v1/campaigns/${id}`, { name: 'Mine' }, token)],
  ['changing the text', 'scheduled', (id, token) => patch(`/v1/campaigns/${id}`, { sms_body: { en: 'Mine' } }, token)],
  ['changing the message', 'draft', (id, token) => patch(`/v1/campaigns/${id}`, { email_message_id: null }, token)],
  [
    'scheduling',
    'draft',
    (id, token) => post(`/v1/campaigns/${id}/schedule`, { scheduled_at: formatHourFromNow() }, token),
  ],
  ['sending', 'draft', (id, token) => post(`/v1/campaigns/${id}/send-now`, {}, token)],
  ['cancelling', 'scheduled', (id, token) => post(`/v1/campaigns/${id}/cancel`, {}, token)],
  ['cancelling what runs', 'sending', (id, token) => post(`/v1/campaigns/${id}/cancel`, {}, token)],
  ['retrying', 'sent', (id, token) => post(`/v1/campaigns/${id}/retry-failed`, {}, token)],
  ['listing recipients', 'sent', (id, token) => get(`/v1/campaigns/${id}/recipients`, token)],
  ['deleting', 'draft', (id, token) => remove(`/v1/campaigns/${id}`, token)],
]

describe('a campaign of an edition to a segment of the whole organisation', () => {
  it.each(verbs)('takes a role in the organisation for %s', async (_, status, call) => {
    const id = await seedCampaignTo(null, status)
    const before = await loadCampaign(id)
    for (const token of [
      manager,
      await seedRoles(['admin', crowd.edition], ['admin', sibling]),
      await seedRoles(['viewer'], ['admin', crowd.edition]),
    ]) {
      const reply = await call(id, token)
      expect(reply).toMatchObject({ status: 403, body: { code: 'permission_denied', required_roles: ['OA', 'OM'] } })
      expect(reply.body.detail).toContain('a role in the organisation')
    }
    expect(await loadCampaign(id)).toEqual(before)
    const elsewhere = await call(id, await seedRoles(['manager', sibling]))
    expect(describeRefusal(elsewhere)).toBe('404 not_found')
    const allowed = await call(id, await seedRoles(['manager']))
    expect([allowed.status < 300, allowed.text]).toEqual([true, allowed.text])
  })

  it.each(verbs)(
    'takes only a role in the edition for %s when the segment belongs to the edition',
    async (_, status, call) => {
      const reply = await call(await seedCampaignTo(crowd.edition, status), manager)
      expect([reply.status < 300, reply.text]).toEqual([true, reply.text])
    },
  )

  it.each(verbs)('takes a role in the edition to which the segment moved for %s', async (name, status, call) => {
    const id = await seedCampaignTo(sibling, status)
    const reply = await call(id, manager)
    expect(describeRefusal(reply)).toBe('403 permission_denied')
    // Changing the message also checks the segment, which no longer belongs to this edition.
    if (name === 'changing the message') return
    const allowed = await call(id, await seedRoles(['manager', crowd.edition], ['manager', sibling]))
    expect([allowed.status < 300, allowed.text]).toEqual([true, allowed.text])
  })

  it('can still be read by roles of its own edition', async () => {
    const id = await seedCampaignTo(null, 'sent')
    for (const path of [`/v1/campaigns/${id}`, `/v1/campaigns/${id}/stats`, '/v1/campaigns'])
      expect((await get(path, manager)).status).toBe(200)
  })

  it('cannot be created without a role in the organisation', async () => {
    const { id: segment_id } = await seedOrganizationSegment()
    const body = {
      organization_id: crowd.organization,
      edition_id: crowd.edition,
      segment_id,
      name: 'All',
      channel: 'email',
    }
    const editionCampaign = await seedCampaignInStatus(crowd, 'draft')
    const before = await counted()
    // A viewer of the organisation sees the segment, and may write in the edition only.
    for (const token of [manager, await seedRoles(['viewer'], ['manager', crowd.edition])])
      for (const reply of [
        await post('/v1/campaigns', body, token),
        await patch(`/v1/campaigns/${editionCampaign}`, { segment_id }, token),
      ])
        expect([reply.status, reply.body.errors]).toMatchObject([
          400,
          [{ pointer: '#/segment_id', code: 'does_not_exist' }],
        ])
    expect([await counted(), (await loadCampaign(editionCampaign)).version]).toEqual([before, 1])
    expect((await post('/v1/campaigns', body, await seedRoles(['manager']))).status).toBe(201)
  })
})

describe('a change of the message of a campaign', () => {
  const change = (id: string, token?: string) => patch(`/v1/email-messages/${id}`, { title: 'Mine' }, token)
  const readMessageId = async (id: string) => (await loadCampaign(id)).email_message_id ?? ''

  it.each(['scheduled', 'calculating', 'sending'] as const)(
    'takes a role in the organisation when the segment goes beyond the edition and the campaign is %s',
    async (status) => {
      const message = await readMessageId(await seedCampaignTo(null, status))
      const refusal = await change(message, manager)
      expect(refusal).toMatchObject({ status: 403, body: { code: 'permission_denied', required_roles: ['OA', 'OM'] } })
      expect(refusal.body.detail).toContain('Only a role in the whole organisation')
      expect((await get(`/v1/email-messages/${message}`)).body.title).not.toBe('Mine')
      expect((await change(message, await seedRoles(['manager']))).status).toBe(200)
    },
  )

  it('needs a role in the place to which the segment moved', async () => {
    const message = await readMessageId(await seedCampaignTo(sibling, 'scheduled'))
    expect((await change(message, manager)).status).toBe(403)
    const both = await seedRoles(['manager', crowd.edition], ['manager', sibling])
    expect((await change(message, both)).status).toBe(200)
    const viewing = await seedRoles(['manager', crowd.edition], ['viewer', sibling])
    expect((await change(message, viewing)).status).toBe(403)
  })

  it.each(['draft', 'sent', 'failed', 'cancelled'] as const)(
    'takes only a role in the edition when the campaign is %s',
    async (status) => {
      expect((await change(await readMessageId(await seedCampaignTo(null, status)), manager)).status).toBe(200)
    },
  )

  it('takes only a role in the edition when the segment belongs to it', async () => {
    expect((await change(await readMessageId(await seedCampaignTo(crowd.edition, 'scheduled')), manager)).status).toBe(
      200,
    )
  })
})

describe('a segment that moves while an edition role sends a request', () => {
  const grants = () => [{ organization_id: crowd.organization, edition_id: crowd.edition, role: 'manager' as const }]
  const editionRole = () => createContextAt(Date.now(), { is_superuser: false, grants: grants() })

  /** Makes a context in which a change happens between the last read and the commit. */
  function interruptBefore(happen: () => Promise<unknown>) {
    const ctx = editionRole()
    const batch = ctx.db.batch.bind(ctx.db)
    ctx.db.batch = async (statements) => {
      await happen()
      return batch(statements)
    }
    return ctx
  }

  it.each<[string, CampaignStatus, (ctx: Ctx, campaign: LoadedCampaign) => Promise<unknown>]>([
    ['is sent', 'draft', (ctx, campaign) => sendCampaignNow(ctx, campaign)],
    [
      'is scheduled',
      'draft',
      (ctx, campaign) => scheduleCampaign(ctx, campaign, { scheduled_at: formatHourFromNow() }),
    ],
    ['is changed', 'scheduled', (ctx, campaign) => updateCampaign(ctx, campaign, { name: 'Mine' })],
    ['is paused', 'scheduled', (ctx, campaign) => pauseCampaign(ctx, campaign)],
    ['is cancelled', 'scheduled', (ctx, campaign) => cancelCampaign(ctx, campaign)],
    ['is deleted', 'draft', (ctx, campaign) => deleteCampaign(ctx, campaign)],
  ])('aborts the request whose campaign %s, which then decides again', async (_, status, verb) => {
    const id = await seedCampaignTo(crowd.edition, status)
    const before = await loadCampaign(id)
    const ctx = interruptBefore(() => moveSegment(id, null))
    await expect(verb(ctx, await findAuthorizedCampaign(ctx, id))).rejects.toBeInstanceOf(LostRace)
    expect(await loadCampaign(id)).toEqual(before)
    await expect(findAuthorizedCampaign(ctx, id)).rejects.toMatchObject({ code: 'permission_denied' })
    await moveSegment(id, crowd.edition)
    const quiet = editionRole()
    await verb(quiet, await findAuthorizedCampaign(quiet, id))
  })

  it('prevents a campaign to it that is created at the same time', async () => {
    const { id: segment_id } = await seedSegment(crowd)
    const ctx = interruptBefore(() => write(update(segments, { edition_id: null }, sql`id = ${segment_id}`)))
    const input = {
      organization_id: crowd.organization,
      edition_id: crowd.edition,
      name: 'New',
      channel: 'email' as const,
    }
    const before = await counted()
    await expect(createCampaign(ctx, { ...input, segment_id })).rejects.toBeInstanceOf(LostRace)
    await expect(createCampaign(ctx, { ...input, segment_id })).rejects.toMatchObject({ code: 'validation_error' })
    expect(await counted()).toBe(before)
  })

  it('prevents a change of a message whose campaign is scheduled at the same time', async () => {
    const id = await seedCampaignTo(null, 'draft')
    const message = (await loadCampaign(id)).email_message_id ?? ''
    const ctx = interruptBefore(() => write(sql`update campaigns set status = 'scheduled' where id = ${id}`))
    await expect(updateEmailMessage(ctx, await findMessage(ctx, message), { title: 'Mine' })).rejects.toBeInstanceOf(
      LostRace,
    )
    expect((await get(`/v1/email-messages/${message}`)).body.title).not.toBe('Mine')
  })
})

describe('allowed_actions', () => {
  const readActions = async (id: string, token: string): Promise<string[]> => {
    const detail = (await get(`/v1/campaigns/${id}`, token)).body
    const list = await get(`/v1/campaigns?edition_id=${crowd.edition}&page_size=500`, token)
    const item = list.body.results.find((campaign: { id: string }) => campaign.id === id)
    expect(item.allowed_actions).toEqual(detail.allowed_actions)
    return detail.allowed_actions
  }

  it('has nothing that a role for the segment is missing for, and nothing for viewers', async () => {
    const viewer = await seedRoles(['viewer', crowd.edition])
    const organizationManager = await seedRoles(['manager'])
    const own = await seedCampaignTo(crowd.edition, 'draft')
    const ofOrganization = await seedCampaignTo(null, 'draft')
    const all = ['update', 'delete', 'schedule', 'send_now']
    expect(await readActions(own, manager)).toEqual(all)
    expect(await readActions(own, viewer)).toEqual([])
    expect(await readActions(ofOrganization, manager)).toEqual([])
    expect(await readActions(ofOrganization, organizationManager)).toEqual(all)
  })

  it('has nothing but pausing and cancelling in an archived edition', async () => {
    const organizationManager = await seedRoles(['manager'])
    const ids = [await seedCampaignTo(crowd.edition, 'scheduled'), await seedCampaignTo(crowd.edition, 'draft')]
    await write(sql`update editions set is_archived = 1 where id = ${crowd.edition}`)
    const actions = []
    for (const id of ids) actions.push(await readActions(id, organizationManager))
    await write(sql`update editions set is_archived = 0 where id = ${crowd.edition}`)
    expect(actions).toEqual([['pause', 'cancel'], []])
  })
})
