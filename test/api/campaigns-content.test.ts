import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import type { Block } from '../../src/domain/email/blocks/blocks.ts'
import { get, patch, post } from '../support/api.ts'
import { listCaptured, loadCampaign, runUntil } from '../support/campaigns.ts'
import { type Crowd, marketingTo, seedCrowd, seedReady } from '../support/seeding/messaging/campaigns.ts'
import { seedMessage } from '../support/seeding/messaging/email-messages.ts'
import { formatHourFromNow, write } from '../support/seeding/rows.ts'

const aText = (text: Record<string, string>, id = 'blk_1'): Block => ({ id, type: 'rich_text', data: { text } })
const inBoth = (text: string) => ({ en: text, da: text })

interface Content {
  subject?: Record<string, string>
  blocks?: Block[]
}

async function seedContent(crowd: Crowd, { subject = inBoth('News'), blocks = [aText(inBoth('Hello'))] }: Content) {
  const message = await seedMessage(crowd, { type: 'campaign', subject, blocks })
  const { campaign } = await seedReady(crowd, { email_message_id: message })
  return { id: campaign.id, message, path: `/v1/campaigns/${campaign.id}` }
}

const schedule = (path: string, more: object = {}) =>
  post(`${path}/schedule`, { scheduled_at: formatHourFromNow(), ...more })

/** Asks both operations, and expects the same refusal of each and no change. */
async function expectRefusal(path: string, errors: object[], more: object = {}) {
  for (const reply of [await post(`${path}/send-now`, more), await schedule(path, more)]) {
    expect(reply).toMatchObject({ status: 409, body: { code: 'campaign_not_ready', errors } })
  }
  expect((await get(path)).body).toMatchObject({ status: 'draft', accepted_translations: [] })
}

describe('a campaign with a variable that stays empty', () => {
  it('is refused with every unknown variable of subject and blocks, its place and the name that may be meant', async () => {
    const { path } = await seedContent(await seedCrowd(1), {
      subject: { en: 'Hi {{ customer.firstname }}', da: 'Hej' },
      blocks: [
        aText({ en: 'Welcome to {{ edition.nam }}', da: 'Velkommen til {{ edition.name }}' }),
        { id: 'blk_2', type: 'button', data: { text: inBoth('Go'), url: 'https://example.com/{{ edition.slugg }}' } },
        {
          id: 'blk_3',
          type: 'columns',
          data: { columns: [{ blocks: [{ id: 'blk_4', type: 'heading', data: { text: inBoth('{{ nothing }}') } }] }] },
        },
      ],
    })
    const unknown = { code: 'unknown_variable', pointer: '#/email_message_id' }
    await expectRefusal(path, [
      {
        ...unknown,
        email_message_pointer: '#/subject/en',
        detail: expect.stringMatching(/customer\.firstname.*customer\.first_name/),
      },
      {
        ...unknown,
        email_message_pointer: '#/blocks/0/data/text/en',
        detail: expect.stringMatching(/edition\.nam`.*edition\.name/),
      },
      { ...unknown, email_message_pointer: '#/blocks/1/data/url' },
      { ...unknown, email_message_pointer: '#/blocks/2/data/columns/0/blocks/0/data/text/en' },
      { ...unknown, email_message_pointer: '#/blocks/2/data/columns/0/blocks/0/data/text/da' },
    ])
    await expectRefusal(
      path,
      Array.from({ length: 5 }, () => unknown),
      { accept: ['missing_translations'] },
    )
  })

  it.each([
    ['a text', [aText(inBoth('Your order {{ order.number }}'))], 2],
    ['a loop', [aText(inBoth('{% for item in order.items %}{{ item.name }}{% endfor %}'))], 4],
    ['a condition', [aText(inBoth('{% if refund.amount %}x{% endif %}'))], 2],
    ['the summary of an order', [aText(inBoth('x')), { id: 'blk_2', type: 'order_summary', data: {} }], 1],
    ['a purchase', [aText(inBoth('{{ purchase.code }}'))], 2],
    ['the link to a portal', [{ id: 'b', type: 'button', data: { text: inBoth('x'), url: '{{ links.portal }}' } }], 1],
  ] as [string, Block[], number][])('is refused for %s that campaigns never have', async (_, blocks, count) => {
    const { path } = await seedContent(await seedCrowd(1), { blocks })
    await expectRefusal(
      path,
      Array.from({ length: count }, () => ({ code: 'unknown_variable' })),
    )
  })

  it('is sent with a warning when a default filter replaces the variable', async () => {
    const { path, id } = await seedContent(await seedCrowd(3), {
      blocks: [aText(inBoth('At {{ edition.nam | default: "the festival" }}'))],
    })
    const reply = await post(`${path}/send-now`, {})
    expect([reply.status, reply.body.errors]).toEqual([200, undefined])
    expect(reply.body.warnings).toMatchObject([
      { code: 'unknown_variable', email_message_pointer: '#/blocks/0/data/text/en' },
      { code: 'unknown_variable', email_message_pointer: '#/blocks/0/data/text/da' },
    ])
    await runUntil(id, ['sent'])
    expect((await listCaptured(id))[0]?.html).toContain('At the festival')
  })

  it('is refused when another use of the variable has no default, or the variable is the default', async () => {
    const { path } = await seedContent(await seedCrowd(1), {
      subject: inBoth('{{ edition.nam | default: "x" }}'),
      blocks: [aText({ en: '{{ edition.nam }}', da: '{{ customer.first_name | default: edition.nam }}' })],
    })
    await expectRefusal(path, [
      { email_message_pointer: '#/blocks/0/data/text/en' },
      { email_message_pointer: '#/blocks/0/data/text/da' },
    ])
  })

  it('finds variables behind other names, and leaves out what a text declares itself', async () => {
    const { path } = await seedContent(await seedCrowd(1), {
      blocks: [
        aText(inBoth('{% assign party = edition %}{{ party.nam }}{% capture note %}x{% endcapture %}{{ note }}')),
        aText(inBoth('{{ note }}{% for n in (1..3) %}{{ n }}{{ forloop.index }}{% endfor %}{{ party.name }}'), 'blk_2'),
      ],
    })
    await expectRefusal(path, [
      { email_message_pointer: '#/blocks/0/data/text/en', detail: expect.stringContaining('edition.nam') },
      { email_message_pointer: '#/blocks/0/data/text/da' },
    ])
  })

  it.each([
    ['{{ customer }}', 'customer'],
    ['{{ customer | append: "!" }}', 'customer'],
    ['{{ "x" | append: edition }}', 'edition'],
    ['{% assign who = customer %}{{ who }}', 'customer'],
    ['{{ customer | default: "you" }}', 'customer'],
    ['{{ 5 | divided_by: 0 }}', '5 | divided_by: 0'],
    ['{% assign n = 0 %}{{ 5 | modulo: n | append: " kr" }}', '5 | modulo: n'],
  ])('is refused for %s, which has no text', async (source, variable) => {
    const { path } = await seedContent(await seedCrowd(1), { blocks: [aText(inBoth(source))] })
    const detail = expect.stringContaining(`\`${variable}\``)
    await expectRefusal(path, [
      { code: 'unknown_variable', detail },
      { code: 'unknown_variable', detail },
    ])
  })

  it('looks at the texts of an SMS alike, and only at those that are sent', async () => {
    const crowd = await seedCrowd(1)
    const sms_body = { en: 'Hi {{ customer.nam }}', da: 'Ordre {{ order.number }}', pl: '{{ unused }}' }
    const { campaign } = await seedReady(crowd, { channel: 'sms', sms_body })
    await expectRefusal(`/v1/campaigns/${campaign.id}`, [
      { code: 'unknown_variable', pointer: '#/sms_body/en' },
      { code: 'unknown_variable', pointer: '#/sms_body/da' },
    ])
  })

  it('gets a warning for a link to unsubscribe that a transactional segment does not have', async () => {
    const crowd = await seedCrowd(1)
    const content = { blocks: [aText(inBoth('Out: {{ links.unsubscribe }}'))] }
    const transactional = await schedule((await seedContent(crowd, content)).path)
    expect(transactional.body.warnings).toMatchObject([
      { code: 'empty_variable', email_message_pointer: '#/blocks/0/data/text/en' },
      { code: 'empty_variable' },
    ])
    const { path, id } = await seedContent(crowd, content)
    await marketingTo(crowd, (await loadCampaign(id)).segment_id)
    expect((await schedule(path)).body.warnings).toEqual([])
  })
})

describe('a campaign with missing translations', () => {
  const halfDanish: Content = {
    subject: { en: 'News', da: 'Nyt' },
    blocks: [aText({ en: 'Hello', da: 'Hej' }, 'blk_1'), aText({ en: 'Only English' }, 'blk_2')],
  }
  const missing = {
    code: 'missing_translation',
    pointer: '#/email_message_id',
    email_message_pointer: '#/blocks/1/data/text/da',
  }

  it('is refused with every text that an enabled language lacks', async () => {
    const { path } = await seedContent(await seedCrowd(1), halfDanish)
    await expectRefusal(path, [missing])
  })

  it('is sent when they are accepted, and shows what was accepted', async () => {
    const { path, id } = await seedContent(await seedCrowd(3), halfDanish)
    const reply = await post(`${path}/send-now`, { accept: ['missing_translations'] })
    expect(reply.status).toBe(200)
    expect(reply.body.warnings).toMatchObject([missing])
    const accepted = [{ language: 'da', block_id: 'blk_2', field: 'text' }]
    expect(reply.body.accepted_translations).toEqual(accepted)
    expect((await runUntil(id, ['sent'])).sent_count).toBe(3)
    expect((await get(path)).body.accepted_translations).toEqual(accepted)
  })

  it('is sent with a warning about a language without any text', async () => {
    const { path } = await seedContent(await seedCrowd(1), { subject: { en: 'x' }, blocks: [aText({ en: 'x' })] })
    const reply = await schedule(path)
    expect([reply.status, reply.body.accepted_translations]).toEqual([200, []])
    expect(reply.body.warnings).toMatchObject([
      { code: 'untranslated_language', pointer: '#/email_message_id', detail: expect.stringContaining('`da`') },
    ])
  })

  it('gets a warning for an SMS in fewer languages than the edition has', async () => {
    const { campaign } = await seedReady(await seedCrowd(1), { channel: 'sms', sms_body: { en: 'Hello' } })
    const reply = await schedule(`/v1/campaigns/${campaign.id}`)
    expect([reply.status, reply.body.warnings]).toMatchObject([
      200,
      [{ code: 'untranslated_language', pointer: '#/sms_body/da' }],
    ])
  })

  const threeBlocks = [...(halfDanish.blocks ?? []), aText({ en: 'Another' }, 'blk_3')]

  async function givenAccepted() {
    const crowd = await seedCrowd(2)
    const content = await seedContent(crowd, halfDanish)
    expect((await schedule(content.path, { accept: ['missing_translations'] })).status).toBe(200)
    return { ...content, crowd }
  }

  it.each([['unknown_variables'], [['unknown_variables']], [['missing_translations', 'x']], [[1]], [{}]])(
    'accepts nothing but missing translations: %j',
    async (accept) => {
      const { path } = await seedContent(await seedCrowd(1), halfDanish)
      expect((await post(`${path}/send-now`, { accept })).status).toBe(400)
      expect((await schedule(path, { accept })).status).toBe(400)
    },
  )

  it('is asked for again when the campaign is scheduled again, even after a change of the name alone', async () => {
    const { path } = await givenAccepted()
    expect((await patch(path, { name: 'Renamed' })).status).toBe(200)
    expect((await schedule(path)).body.errors).toMatchObject([missing])
  })

  it('lets no change of the message bring another missing text, as any that stops a scheduled campaign', async () => {
    const { message, id } = await givenAccepted()
    const refusal = await patch(`/v1/email-messages/${message}`, { blocks: threeBlocks })
    expect(refusal).toMatchObject({
      status: 409,
      body: {
        code: 'email_message_in_use',
        errors: [{ code: 'missing_translation', pointer: '#/blocks/2/data/text/da' }],
      },
    })
    expect(refusal.body.related_objects).toMatchObject([{ id }])
  })

  it('is not asked for again when the blocks of the message change their order', async () => {
    const { message } = await givenAccepted()
    const blocks = [threeBlocks[1], threeBlocks[0]]
    expect((await patch(`/v1/email-messages/${message}`, { blocks })).status).toBe(200)
  })

  it('lets no change of the message bring an unknown variable', async () => {
    const { message } = await givenAccepted()
    const blocks = [aText(inBoth('{{ nam }}'))]
    expect((await patch(`/v1/email-messages/${message}`, { blocks })).body).toMatchObject({
      code: 'email_message_in_use',
      errors: [{ code: 'unknown_variable' }, { code: 'unknown_variable' }],
    })
  })

  it('is asked for again when the campaign gets another message', async () => {
    const { path, crowd } = await givenAccepted()
    const other = await seedMessage(crowd, { type: 'campaign', ...halfDanish })
    expect((await patch(path, { email_message_id: other })).body.errors).toMatchObject([missing])
    const changed = await patch(path, { email_message_id: other, accept: ['missing_translations'] })
    expect([changed.status, changed.body.accepted_translations]).toMatchObject([200, [{ block_id: 'blk_2' }]])
  })

  it('fails at its scheduled start when a text is missing that nobody accepted', async () => {
    const crowd = await seedCrowd(2, { enabled_languages: ['en'] })
    const { path, id } = await seedContent(crowd, halfDanish)
    expect((await schedule(path)).body.warnings).toEqual([])
    await write(sql`update editions set enabled_languages = '["en","da"]' where id = ${crowd.edition}`)
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 1000} where id = ${id}`)
    const row = await runUntil(id, ['sent', 'failed'])
    expect([row.status, row.error_message]).toEqual(['failed', expect.stringMatching(/^missing_translation: .*`da`/)])
    expect(await listCaptured(id)).toEqual([])
  })

  it('is sent at its scheduled start with the texts that were accepted', async () => {
    const { path, id } = await seedContent(await seedCrowd(2), halfDanish)
    expect((await schedule(path, { accept: ['missing_translations'] })).status).toBe(200)
    await write(sql`update campaigns set scheduled_at = ${Date.now() - 1000} where id = ${id}`)
    expect((await runUntil(id, ['sent', 'failed'])).status).toBe('sent')
  })

  it('can be scheduled while a draft takes unknown variables and missing texts', async () => {
    const { message } = await seedContent(await seedCrowd(1), halfDanish)
    const saved = await patch(`/v1/email-messages/${message}`, { blocks: [aText({ en: '{{ nam }}' })] })
    expect(saved.status).toBe(200)
  })
})

describe('the preview of a message', () => {
  it('shows the variables of its type alone', async () => {
    const crowd = await seedCrowd(1)
    const blocks = [
      aText(
        inBoth('Order [{{ order.number }}] for [{{ customer.first_name }}] [{{ edition.nam }}] [{{ refund.amount }}]'),
      ),
    ]
    const context = { order: { number: 'A-1' }, edition: { nam: 'x' } }
    const shown = async (type: 'campaign' | 'receipt' | 'refund_confirmation') => {
      const id = await seedMessage(crowd, { type, blocks })
      const { text, unknown_variables } = (await post(`/v1/email-messages/${id}/preview`, { context })).body
      return [text, unknown_variables.map(({ variable }: { variable: string }) => variable)]
    }
    expect(await shown('campaign')).toEqual([
      expect.stringContaining('Order [] for [Astrid] [] []'),
      ['order.number', 'edition.nam', 'refund.amount'],
    ])
    expect(await shown('receipt')).toEqual([
      expect.stringContaining('Order [A-1] for [Astrid] [] []'),
      ['edition.nam', 'refund.amount'],
    ])
    expect(await shown('refund_confirmation')).toEqual([
      expect.stringMatching(/Order \[A-1\] for \[Astrid\] \[\] \[.+\]/),
      ['edition.nam'],
    ])
  })

  it('lists objects and endless numbers with the unknown variables, and no range', async () => {
    const id = await seedMessage(await seedCrowd(1), { type: 'receipt' })
    const source =
      '[{{ customer }}|{{ 5 | divided_by: 0 }}|{{ order.items }}|{{ order.items.size }}|{{ order.items | size }}|' +
      '{% for n in (1..3) %}{{ n }}{% endfor %}|{% if customer %}y{% endif %}|{{ order.items[0].name }}|' +
      '{{ order.items.first.name }}|{{ order.items.last.name }}|{{ order.items.last.nam }}]'
    const blocks = [aText(inBoth(source))]
    const { body } = await post(`/v1/email-messages/${id}/preview`, { blocks })
    expect(body.unknown_variables).toEqual([
      { variable: 'customer', suggestion: null },
      { variable: 'order.items', suggestion: null },
      { variable: 'item.nam', suggestion: 'item.name' },
      { variable: '5 | divided_by: 0', suggestion: null },
    ])
    expect(body.text).toContain('[|||2|2|123|y|Day ticket|Day ticket|Camping pass|]')
    expect(body.html + body.text).not.toMatch(/\[object|Infinity|NaN/)
  })
})
