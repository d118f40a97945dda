import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { NewRecipient } from '../../src/domain/campaigns/sender.ts'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { listAudience } from '../../src/modules/campaigns/delivery/audience.ts'
import { readCampaign } from '../../src/modules/campaigns/delivery/campaign-row.ts'
import { patch, post } from '../support/api.ts'
import { readPlan } from '../support/campaign-plans.ts'
import { createJob, getCampaignObject, listCaptured, loadCampaign, runUntil } from '../support/campaigns.ts'
import { seedPeople, type UserRow } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenMember } from '../support/seeding/members.ts'
import { inRecipientStore, seedCampaign, seedCrowd } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { seedSegment } from '../support/seeding/messaging/segments.ts'
import { db, formatHourFromNow, write } from '../support/seeding/rows.ts'
import { loadSegment } from '../support/segments.ts'

const text = (word: string, condition?: string, id = word) => ({
  id,
  type: 'rich_text',
  ...(condition === undefined ? {} : { condition }),
  data: { text: { en: `<p>${word} en</p>`, da: `<p>${word} da</p>` } },
})
const isDanish = 'user.locale == "da"'
const isNamed = (name: string) => `user.first_name == "${name}"`

interface Place {
  organization: string
  edition: string
}

interface Parts {
  blocks: object[]
  messageEdition?: string | null
  segmentEdition?: string | null
}

async function givenCampaign(
  place: Place,
  { blocks, messageEdition = place.edition, segmentEdition = place.edition }: Parts,
) {
  const message = await seedMessage(
    { organization: place.organization, edition: messageEdition },
    { type: 'campaign', subject: { en: 'News', da: 'Nyt' }, blocks: blocks as never },
  )
  const segment = await seedSegment({ organization: place.organization, edition: segmentEdition })
  const campaign = await seedCampaign(place, segment.id, { email_message_id: message })
  return { id: campaign.id, message, segment: segment.id, path: `/v1/campaigns/${campaign.id}` }
}

async function send({ id, path }: { id: string; path: string }, job = createJob()) {
  const reply = await post(`${path}/send-now`, {})
  expect(reply.status, reply.text).toBe(200)
  return runUntil(id, ['sent', 'failed'], job)
}

/** Reads the words of the blocks that each person got, by their first names. */
async function readBlocks(id: string, people: readonly UserRow[], words: readonly string[]) {
  const mails = await listCaptured(id)
  return Object.fromEntries(
    people.map(({ first_name, email }) => {
      const mail = mails.find(({ recipient }) => recipient.includes(email ?? '?'))
      const [html, plain] = [mail?.html ?? '', mail?.body ?? ''].map((part) =>
        words.flatMap((word) => new RegExp(`${word} (en|da)`).exec(part)?.[0] ?? []),
      )
      expect(plain).toEqual(html)
      return [first_name, html]
    }),
  )
}

const seedNamed = async (place: Place, people: Record<string, string>) =>
  seedPeople(
    place,
    Object.entries(people).map(([first_name, locale]) => ({ first_name, locale })),
  )

const readNumbers = (id: string) =>
  inRecipientStore(id, (store) =>
    store.storage.sql.exec<{ conditions: number }>('select conditions from recipients order by n').toArray(),
  )

describe('blocks with conditions', () => {
  it('reach the recipients for whom the condition holds, in each language', async () => {
    const crowd = await seedCrowd(0)
    const people = await seedNamed(crowd, { Anna: 'da', Bo: 'da', Carl: 'en', Dora: 'en' })
    const blocks = [
      text('Danes', isDanish),
      text('All'),
      {
        id: 'columns',
        type: 'columns',
        condition: `${isNamed('Anna')} || ${isNamed('Carl')}`,
        data: { columns: [{ blocks: [text('Left')] }, { blocks: [text('Right', isDanish)] }] },
      },
      text('Nobody', 'stats.order_count > 5'),
      text('Again', isDanish),
    ]
    const campaign = await givenCampaign(crowd, { blocks })
    expect((await send(campaign)).status).toBe('sent')
    expect(await readBlocks(campaign.id, people, ['Danes', 'All', 'Left', 'Right', 'Nobody', 'Again'])).toEqual({
      Anna: ['Danes da', 'All da', 'Left da', 'Right da', 'Again da'],
      Bo: ['Danes da', 'All da', 'Again da'],
      Carl: ['All en', 'Left en'],
      Dora: ['All en'],
    })
    expect(await readNumbers(campaign.id)).toEqual([3, 1, 2, 0].map((conditions) => ({ conditions })))
    for (const { html } of await listCaptured(campaign.id)) expect(html).not.toMatch(/\{%|block_conditions/)
  })

  it.each([
    ['the message', { segmentEdition: null }],
    ['the segment', { messageEdition: null }],
  ])('know the days and the time zone of the edition of %s', async (_, parts) => {
    const at = Date.parse('2026-06-05T22:30:00Z')
    const crowd = await seedCrowd(0, { timezone: 'Europe/Copenhagen', start_at: at })
    const people = await seedNamed(crowd, { Anna: 'da', Bo: 'da' })
    await write(sql`update users set created_at = ${at - 3_600_000} where id = ${people[0]?.id}`)
    await write(sql`update edition_customers set created_at = ${at - 3_600_000} where user_seq = ${people[0]?.seq}`)
    const isEarly = 'user.date_joined.getDayOfEdition() == -1'
    const isOfZone = 'edition.timezone == "Europe/Copenhagen" && now.getHours(edition.timezone) >= 0'
    const campaign = await givenCampaign(crowd, {
      blocks: [text('All'), text('Early', isEarly), text('Zone', isOfZone)],
      ...parts,
    })
    expect((await send(campaign)).status).toBe('sent')
    expect(await readBlocks(campaign.id, people, ['Early', 'Zone'])).toEqual({
      Anna: ['Early da', 'Zone da'],
      Bo: ['Zone da'],
    })
  })

  it('keep their links in the order of the message, and lead where they say', async () => {
    const crowd = await seedCrowd(0)
    await seedNamed(crowd, { Anna: 'da', Carl: 'en' })
    const link = (word: string, condition?: string) => ({
      ...text(word, condition),
      type: 'button',
      data: { text: { en: `${word} en`, da: `${word} da` }, url: `https://example.com/${word}` },
    })
    const campaign = await givenCampaign(crowd, {
      blocks: [link('one', isDanish), link('two'), link('three', 'false')],
    })
    await send(campaign)
    const stored = await db.all(
      sql<{ url: string }>`select url from campaign_links where campaign_id = ${campaign.id} order by position`,
    )
    expect(stored.map(({ url }) => url)).toEqual(['one', 'two', 'three'].map((word) => `https://example.com/${word}`))
    const counts = (await listCaptured(campaign.id)).map(({ html }) => html.match(/\/t\/c\//g)?.length)
    expect(counts.toSorted()).toEqual([1, 2])
  })

  it('are decided when recipients are calculated, and stay the same for a retry', async () => {
    const crowd = await seedCrowd(0)
    const people = await seedNamed(crowd, { Anna: 'da', Carl: 'en' })
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), text('All')] })
    const job = createJob()
    const refuse = async (messages: readonly OutboundEmail[]) =>
      messages.map(() => createFailure('configuration', 'invalid_api_key', ''))
    expect((await send(campaign, { ...job, email: { ...job.email, send: refuse } })).status).toBe('failed')
    await write(
      sql`update users set locale = 'en', first_name = 'Anna Later' where id = ${people[0]?.id ?? ''}`,
      sql`update email_messages set blocks = ${JSON.stringify([text('Changed', 'true')])} where id = ${campaign.message}`,
    )
    expect((await post(`${campaign.path}/retry-failed`, {})).status).toBe(200)
    await runUntil(campaign.id, ['sent'])
    expect(await readBlocks(campaign.id, people, ['Danes', 'All', 'Changed'])).toEqual({
      Anna: ['Danes da', 'All da'],
      Carl: ['All en'],
    })
  })

  it('are evaluated anew when a failed campaign is started again with other conditions', async () => {
    const crowd = await seedCrowd(0)
    const people = await seedNamed(crowd, { Anna: 'da', Carl: 'en' })
    const campaign = await givenCampaign(crowd, { blocks: [text('First', isNamed('Carl')), text('All')] })
    const job = createJob()
    const refuse = async (messages: readonly OutboundEmail[]) =>
      messages.map(() => createFailure('configuration', 'invalid_api_key', ''))
    await send(campaign, { ...job, email: { ...job.email, send: refuse } })
    const blocks = [text('Second', isDanish), text('First', isNamed('Carl')), text('All')]
    expect((await patch(`/v1/email-messages/${campaign.message}`, { blocks })).status).toBe(200)
    expect((await send(campaign)).status).toBe('sent')
    expect(await readBlocks(campaign.id, people, ['First', 'Second', 'All'])).toEqual({
      Anna: ['Second da', 'All da'],
      Carl: ['First en', 'All en'],
    })
    // The first condition keeps its position, so that calls of the first run could be repeated unchanged.
    expect(await readNumbers(campaign.id)).toEqual([{ conditions: 2 }, { conditions: 1 }])
  })

  it('are evaluated page by page, in shorter pages when that takes long', async () => {
    const crowd = await seedCrowd(60)
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), text('All')] })
    await write(sql`update users set email = null where id = ${crowd.people[30]?.id ?? ''}`)
    await send(campaign)
    const numbers = (await readNumbers(campaign.id)).map(({ conditions }) => conditions)
    expect(new Set(numbers)).toEqual(new Set([0, 1]))
    const row = await readCampaign(createJob(), campaign.id)
    const segment = await loadSegment(campaign.segment)
    if (!row) throw new Error('there is no campaign')
    let time = Date.now()
    // Each look at the clock takes 300 ms.
    const slowJob = createJob({ now: () => (time += 300) })
    const pages: NewRecipient[][] = []
    for (let after: number | null = 0; after !== null;) {
      const page = await listAudience(slowJob, row, { epoch: segment.members_epoch, after, limit: 1000 })
      if (!page || 'error' in page) throw new Error(JSON.stringify(page))
      pages.push([...page.people])
      after = page.after
    }
    expect(pages.length).toBeGreaterThan(3)
    expect(pages.flat().map(({ conditions }) => conditions)).toEqual(numbers)
  })

  it('keep their positions apart when a merge of products has made two of them the same', async () => {
    const crowd = await seedCrowd(0)
    const people = await seedNamed(crowd, { Anna: 'da', Carl: 'en' })
    const blocks = [text('First', isNamed('Anna')), text('Second', isNamed('Bo')), text('All')]
    const campaign = await givenCampaign(crowd, { blocks })
    const job = createJob()
    const refuse = async (messages: readonly OutboundEmail[]) =>
      messages.map(() => createFailure('configuration', 'invalid_api_key', ''))
    await send(campaign, { ...job, email: { ...job.email, send: refuse } })
    await write(sql`update campaign_conditions set expression = ${isNamed('Anna')} where campaign_id = ${campaign.id}`)
    const changedBlocks = [text('First', isNamed('Anna')), text('Third', isNamed('Carl')), text('All')]
    expect((await patch(`/v1/email-messages/${campaign.message}`, { blocks: changedBlocks })).status).toBe(200)
    expect((await send(campaign)).status).toBe('sent')
    expect(await readBlocks(campaign.id, people, ['First', 'Third', 'All'])).toEqual({
      Anna: ['First da', 'All da'],
      Carl: ['Third en', 'All en'],
    })
  })

  it('are left out for people who were erased before a retry, and their number is gone', async () => {
    const crowd = await seedCrowd(0)
    const people = await seedNamed(crowd, { Anna: 'da', Bo: 'da' })
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), text('All')] })
    const job = createJob()
    const refuse = async (messages: readonly OutboundEmail[]) =>
      messages.map(() => createFailure('configuration', 'invalid_api_key', ''))
    await send(campaign, { ...job, email: { ...job.email, send: refuse } })
    const [anna, bo] = people as [UserRow, UserRow]
    await getCampaignObject(campaign.id).erase(anna.seq)
    expect(await readNumbers(campaign.id)).toEqual([{ conditions: 0 }, { conditions: 1 }])
    await post(`${campaign.path}/retry-failed`, {})
    await runUntil(campaign.id, ['sent'])
    expect((await listCaptured(campaign.id)).map(({ recipient }) => recipient.includes(bo.email ?? '?'))).toEqual([
      true,
    ])
  })
})

describe('a campaign whose blocks have conditions', () => {
  const schedule = (path: string) => post(`${path}/schedule`, { scheduled_at: formatHourFromNow() })

  async function expectRefusal(campaign: { path: string }, code: string, pointer: string) {
    for (const reply of [await post(`${campaign.path}/send-now`, {}), await schedule(campaign.path)])
      expect(reply).toMatchObject({
        status: 409,
        body: { code: 'campaign_not_ready', errors: [{ code, email_message_pointer: pointer }] },
      })
  }

  it('is refused when some recipients would see no block', async () => {
    const crowd = await seedCrowd(1)
    const spacer = { id: 'spacer', type: 'spacer', data: {} }
    const empty = { id: 'empty', type: 'rich_text', data: { text: { en: ' ', da: '' } } }
    const columns = {
      id: 'columns',
      type: 'columns',
      data: { columns: [{ blocks: [text('x', isDanish)] }, { blocks: [] }] },
    }
    const footer = { id: 'footer', type: 'footer', data: { text: { en: 'Bye', da: 'Hej' } } }
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), spacer, empty, columns, footer] })
    await expectRefusal(campaign, 'no_block_for_everyone', '#/blocks')
  })

  it('keeps its message from losing the block that everyone sees', async () => {
    const crowd = await seedCrowd(1)
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), text('All')] })
    expect((await schedule(campaign.path)).status).toBe(200)
    const reply = await patch(`/v1/email-messages/${campaign.message}`, { blocks: [text('Danes', isDanish)] })
    expect(reply).toMatchObject({
      status: 409,
      body: { code: 'email_message_in_use', errors: [{ code: 'no_block_for_everyone', pointer: '#/blocks' }] },
    })
  })

  it('is refused when its message and its segment belong to different editions', async () => {
    const crowd = await seedCrowd(1)
    const other = await seedEdition({ id: crowd.organization })
    const campaign = await givenCampaign(crowd, {
      blocks: [text('Danes', isDanish), text('All')],
      segmentEdition: other.id,
    })
    await expectRefusal(campaign, 'other_edition', '#/blocks')
  })

  it('fails at its start when a condition is no longer valid or cannot be evaluated', async () => {
    const crowd = await seedCrowd(1)
    const broken = await givenCampaign(crowd, { blocks: [text('x', 'user.locale == "da"'), text('All')] })
    expect((await schedule(broken.path)).status).toBe(200)
    await write(
      sql`update email_messages set blocks = replace(blocks, 'user.locale', 'user.gone') where id = ${broken.message}`,
    )
    await write(sql`update campaigns set scheduled_at = ${Date.now()} where id = ${broken.id}`)
    const failed = await runUntil(broken.id, ['failed', 'sent'])
    expect([failed.status, failed.error_message]).toEqual(['failed', expect.stringContaining('invalid_condition')])

    const replaced = await givenCampaign(crowd, { blocks: [text('x', 'user.locale == "da"'), text('All')] })
    expect((await post(`${replaced.path}/send-now`, {})).status).toBe(200)
    await write(sql`update campaign_conditions set expression = 'user.gone' where campaign_id = ${replaced.id}`)
    const stopped = await runUntil(replaced.id, ['failed', 'sent'])
    expect([stopped.status, stopped.error_message]).toEqual(['failed', expect.stringContaining('`user.gone`')])
    expect(await listCaptured(replaced.id)).toEqual([])
  })

  it('ends with a clear error after it had too many different conditions', async () => {
    const crowd = await seedCrowd(1)
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), text('All')] })
    for (let position = 0; position < 31; position++)
      await write(sql`insert into campaign_conditions (campaign_id, position, expression)
        values (${campaign.id}, ${position}, ${`stats.order_count == ${position}`})`)
    expect(await post(`${campaign.path}/send-now`, {})).toMatchObject({
      status: 409,
      body: { errors: [{ code: 'max_items', pointer: '#/email_message_id' }] },
    })
    expect((await loadCampaign(campaign.id)).status).toBe('draft')
  })
})

describe('the plan of a campaign', () => {
  it('counts who would see the blocks of each condition, as the campaign then shows them', async () => {
    const crowd = await seedCrowd(0)
    await seedNamed(crowd, { Anna: 'da', Bo: 'da', Carl: 'en' })
    await seedPeople(crowd, [{ locale: 'da', email: null }])
    const nested = {
      id: 'columns',
      type: 'columns',
      data: { columns: [{ blocks: [text('x', isNamed('Bo'))] }, { blocks: [] }] },
    }
    const campaign = await givenCampaign(crowd, { blocks: [text('Danes', isDanish), nested, text('All')] })
    const plan = await readPlan(campaign.id)
    expect(plan).toMatchObject({ faults: [], audience: { recipients: 3, skipped: 1 } })
    expect(plan.audience.conditions).toEqual([
      { condition: isDanish, recipients: 2 },
      { condition: isNamed('Bo'), recipients: 1 },
    ])
    await send(campaign)
    const numbers = (await readNumbers(campaign.id)).map(({ conditions }) => conditions)
    expect(numbers.filter((number) => number & 1)).toHaveLength(2)
    expect(numbers.filter((number) => number & 2)).toHaveLength(1)
  })

  it('says that conditions cannot be evaluated', async () => {
    const crowd = await seedCrowd(1)
    const other = await seedEdition({ id: crowd.organization })
    const blocks = [text('Danes', isDanish), text('All')]
    const ofOther = await readPlan((await givenCampaign(crowd, { blocks, segmentEdition: other.id })).id)
    expect(ofOther.faults.map(({ code }) => code)).toEqual(expect.arrayContaining(['other_edition']))
    const broken = await readPlan((await givenCampaign(crowd, { blocks: [text('x', 'user.gone'), text('All')] })).id)
    expect(broken.faults.map(({ code }) => code)).toEqual(['invalid_condition'])
    expect(broken.audience.conditions).toBeNull()
  })
})

describe('what conditions are about', () => {
  /** Seeds two editions, and a person who bought in the other one, known there as Anna and here as Bella. */
  async function seedWalls() {
    const crowd = await seedCrowd(0)
    const other = await seedEdition({ id: crowd.organization })
    const people = await seedNamed(crowd, { Anna: 'en', Carl: 'en' })
    const [anna] = people as [UserRow, UserRow]
    await write(
      sql`update edition_customers set first_name = 'Bella' where user_seq = ${anna.seq} and edition_id = ${crowd.edition}`,
    )
    const [stranger] = await seedPeople({ organization: crowd.organization, edition: other.id }, [
      { first_name: 'Xenia', locale: 'en' },
    ])
    return { crowd, other: other.id, people: [...people, stranger as UserRow] }
  }
  const words = ['Organisation', 'Edition', 'Always', 'All']
  const blocks = [
    text('Organisation', isNamed('Anna')),
    text('Edition', isNamed('Bella')),
    text('Always', 'true'),
    text('All'),
  ]

  it.each([
    ['an edition’s message and segment', 'edition', 'edition', ['Edition', 'Always', 'All']],
    ['an organisation’s template and an edition’s segment', null, 'edition', ['Edition', 'Always', 'All']],
    ['an edition’s message and an organisation’s segment', 'edition', null, ['Edition', 'Always', 'All']],
    ['an organisation’s template and segment', null, null, ['Organisation', 'Always', 'All']],
  ] as const)(
    'is what the edition knows, unless all belongs to the organisation: %s',
    async (_, message, segment, anna) => {
      const { crowd, people } = await seedWalls()
      const pick = (owner: 'edition' | null) => (owner === null ? null : crowd.edition)
      const campaign = await givenCampaign(crowd, {
        blocks,
        messageEdition: pick(message),
        segmentEdition: pick(segment),
      })
      expect((await send(campaign)).status).toBe('sent')
      const inEnglish = (list: readonly string[]) => list.map((word) => `${word} en`)
      expect(await readBlocks(campaign.id, people, words)).toEqual({
        Anna: inEnglish(anna),
        Carl: inEnglish(['Always', 'All']),
        // Nobody outside the edition is one of those whom an edition's conditions are about.
        Xenia: segment === null ? inEnglish(message === null ? ['Always', 'All'] : ['All']) : [],
      })
    },
  )

  it('is the edition for its managers, who see who clicked a block', async () => {
    const { crowd } = await seedWalls()
    const manager = await givenMember({ id: crowd.organization }, 'manager', crowd.edition)
    const campaign = await givenCampaign(crowd, { blocks, messageEdition: null })
    expect((await post(`${campaign.path}/send-now`, {}, manager.token)).status).toBe(200)
    await runUntil(campaign.id, ['sent'])
    const [mail] = (await listCaptured(campaign.id)).filter(({ html }) => html.includes('Organisation'))
    expect(mail).toBeUndefined()
  })
})
