import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { get, patch, post, remove } from '../support/api.ts'
import { answer } from '../support/consents.ts'
import { readCost } from '../support/cost.ts'
import { describeRefusal } from '../support/refusals.ts'
import { seedSibling } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { aConsent, givenConsent, seedAnswers, seedConsent } from '../support/seeding/messaging/consents.ts'
import { db } from '../support/seeding/rows.ts'
import { seedBuyer, type Buyer, seedTrades } from '../support/seeding/sales/trades.ts'

let shop: Buyer
beforeAll(async () => {
  shop = await seedBuyer()
})

const listVersions = (consent: string) =>
  db.all(sql<{ version: number; text: string; content_hash: string }>`select version, text, content_hash
    from consent_versions where consent_id = ${consent} order by version`)

describe('createConsent', () => {
  it('stores a definition with the first version of its wording', async () => {
    const reply = await givenConsent(shop.organization, {
      edition_id: shop.edition,
      key: 'photo',
      link_url: { en: 'https://example.com/photos' },
      collect_at: ['checkout', 'user_portal'],
      expires_after_days: 365,
      metadata: { a: 1 },
    })
    expect(reply).toMatchObject({
      organization: { id: shop.organization },
      edition: { id: shop.edition },
      key: 'photo',
      legal_basis: 'consent',
      is_required: false,
      is_active: true,
      version: 1,
      stats: { given: 0, skipped: 0, withdrawn: 0, expired: 0 },
      has_records: false,
    })
    expect(reply.content_hash).toMatch(/^[0-9a-f]{64}$/)
    expect(await listVersions(reply.id)).toMatchObject([{ version: 1, content_hash: reply.content_hash }])
    expect((await get(`/v1/consents/${reply.id}`)).body).toEqual(reply)
  })

  it.each([
    ['an unknown language', { text: { en: 'Yes', fr: 'Oui' } }, 'unknown_language #/text/fr'],
    ['no text', { text: {} }, 'text_missing_default_language #/text'],
    ['no text but white space', { text: { en: ' ' } }, 'text_missing_default_language #/text'],
    ['a key with a space', { key: 'news letter' }, 'invalid #/key'],
    ['a key of a prototype', { key: '__proto__' }, 'invalid #/key'],
    ['a key that is too long', { key: 'a'.repeat(65) }, 'max_length #/key'],
    ['a link that is a script', { link_url: { en: 'javascript:alert(1)' } }, 'malformed_url #/link_url/en'],
    ['a link that ends its attribute', { link_url: { en: 'https://a.dk/"onclick=' } }, 'malformed_url #/link_url/en'],
    ['a channel twice', { channels: ['email', 'email'] }, 'repeated #/channels'],
    ['an unknown collecting point', { collect_at: ['street'] }, 'invalid_choice #/collect_at/0'],
    ['too many days', { expires_after_days: 3651 }, 'max_value #/expires_after_days'],
    ['an edition of nobody', { edition_id: 'edt_nobody' }, 'does_not_exist #/edition_id'],
  ])('refuses %s', async (_, fields, error) => {
    const reply = await post('/v1/consents', aConsent(shop.organization, fields))
    expect(describeRefusal(reply)).toBe(`400 validation_error: ${error}`)
  })

  it('requires a text in the edition’s default language, or in any language for the whole organisation', async () => {
    const danish = { text: { da: 'Ja' }, title: {} }
    const refusal = await post('/v1/consents', aConsent(shop.organization, { ...danish, edition_id: shop.edition }))
    expect(describeRefusal(refusal)).toBe('400 validation_error: text_missing_default_language #/text')
    expect(refusal.body.errors[0].detail).toContain('in `en`,')
    const everywhere = await givenConsent(shop.organization, danish)
    const emptied = await patch(`/v1/consents/${everywhere.id}`, { text: { da: '' } })
    expect(describeRefusal(emptied)).toBe('400 validation_error: text_missing_default_language #/text')
  })

  it('requires a key that is unique in the organisation or in the edition', async () => {
    const key = 'once'
    const duplicateKey = '400 validation_error: unique #/key'
    const everywhere = aConsent(shop.organization, { key })
    const here = { ...everywhere, edition_id: shop.edition }
    const there = { ...everywhere, edition_id: await seedSibling(shop) }
    for (const place of [everywhere, here, there]) {
      const both = await Promise.all([post('/v1/consents', place), post('/v1/consents', place)])
      expect(both.map(({ status }) => status).toSorted()).toEqual([201, 400])
      expect(describeRefusal(await post('/v1/consents', place))).toBe(duplicateKey)
    }
  })
})

describe('updateConsent', () => {
  it('makes a new version for each change of the wording, and for no other change', async () => {
    const reply = await givenConsent(shop.organization)
    const path = `/v1/consents/${reply.id}`
    expect((await patch(path, { name: 'Other', position: 4, is_active: false })).body.version).toBe(1)
    expect((await patch(path, { title: { da: 'Nyhedsbrev', en: 'Newsletter' } })).body.version).toBe(1)
    const changes = [
      { title: { en: 'News' } },
      { text: { en: 'Write.' } },
      { link_url: { en: 'https://a.dk' } },
      { legal_basis: 'contract' },
    ]
    for (const change of changes) await patch(path, change)
    const { body } = await get(path)
    expect([body.version, body.text, body.link_url]).toEqual([5, { en: 'Write.' }, { en: 'https://a.dk' }])
    const versions = await listVersions(reply.id)
    expect(versions.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5])
    expect(new Set(versions.map(({ content_hash }) => content_hash)).size).toBe(5)
    expect(JSON.parse(versions[0]?.text ?? '')).toEqual(reply.text)
    expect(versions[4]?.content_hash).toBe(body.content_hash)
  })

  it('keeps both of two simultaneous changes of the wording', async () => {
    const reply = await givenConsent(shop.organization)
    const path = `/v1/consents/${reply.id}`
    await Promise.all([patch(path, { title: { en: 'A' } }), patch(path, { text: { en: 'B' } })])
    expect((await get(path)).body).toMatchObject({ version: 3, title: { en: 'A' }, text: { en: 'B' } })
    expect(await listVersions(reply.id)).toHaveLength(3)
  })

  it('invalidates earlier answers in audiences and expressions only with reconsent_on_change', async () => {
    for (const reconsent_on_change of [true, false]) {
      const reply = await givenConsent(shop.organization, { reconsent_on_change })
      await answer('give', { user: shop.user, consent: reply.id })
      await patch(`/v1/consents/${reply.id}`, { text: { en: 'Other words.' } })
      const list = (await get(`/v1/user/${shop.user}/consents?page_size=500`)).body.results
      const item = list.find(({ id }: { id: string }) => id === reply.id)
      expect([reconsent_on_change, item.status, item.is_current]).toEqual([
        reconsent_on_change,
        'given',
        !reconsent_on_change,
      ])
    }
  })
})

describe('deleteConsent', () => {
  it('removes a definition without answers, and refuses one with answers', async () => {
    const unansweredConsent = await givenConsent(shop.organization)
    expect((await remove(`/v1/consents/${unansweredConsent.id}`)).status).toBe(204)
    expect((await get(`/v1/consents/${unansweredConsent.id}`)).status).toBe(404)
    expect(await listVersions(unansweredConsent.id)).toEqual([])
    const answeredConsent = await givenConsent(shop.organization)
    await answer('skip', { user: shop.user, consent: answeredConsent.id })
    expect(describeRefusal(await remove(`/v1/consents/${answeredConsent.id}`))).toBe('409 consent_has_records')
    expect((await get(`/v1/consents/${answeredConsent.id}`)).body.has_records).toBe(true)
  })

  it('either deletes the definition or keeps the answer that arrives at the same time', async () => {
    for (let round = 0; round < 4; round++) {
      const { id } = await givenConsent(shop.organization)
      const [removeReply, answerReply] = await Promise.all([
        remove(`/v1/consents/${id}`),
        answer('give', { user: shop.user, consent: id }),
      ])
      expect([`${removeReply.status} ${answerReply.status}`]).toEqual([expect.stringMatching(/^(204 404|409 200)$/)])
    }
  })
})

describe('getConsent', () => {
  it('returns the exact number of answers, and takes as long with many answers as with one', async () => {
    const place = { organization: shop.organization, edition: shop.edition }
    const consent = await seedConsent(place)
    const [first, ...others] = await seedTrades(place, 30)
    await seedAnswers(place, first?.user ?? '', consent, 3)
    const read = async () => {
      const reply = await get(`/v1/consents/${consent}`)
      return { stats: reply.body.stats, rows: readCost(reply).rows_read }
    }
    const few = await read()
    expect(few.stats).toEqual({ given: 1, skipped: 0, withdrawn: 0, expired: 0 })
    for (const { user } of others) await seedAnswers(place, user, consent, 2)
    const many = await read()
    expect(many.stats).toEqual({ given: 1, skipped: 0, withdrawn: 29, expired: 0 })
    expect(many.rows).toBe(few.rows)
  })

  it('hides the organisation’s numbers of answers from a role of an edition', async () => {
    const consent = await givenConsent(shop.organization)
    const { token } = await givenMember({ id: shop.organization }, 'viewer', shop.edition)
    const viewerReply = await get(`/v1/consents/${consent.id}`, token)
    expect([viewerReply.status, viewerReply.body.stats]).toEqual([200, null])
    expect(describeRefusal(await patch(`/v1/consents/${consent.id}`, { name: 'X' }, token))).toBe(
      '403 permission_denied',
    )
  })
})

describe('listConsents', () => {
  it('filters by place, type, state and search', async () => {
    const other = await seedBuyer()
    const everywhere = await givenConsent(other.organization, { name: 'Æbler og pærer', key: 'fruit' })
    const here = await givenConsent(other.organization, { edition_id: other.edition, type: 'photo', channels: [] })
    const off = await givenConsent(other.organization, { is_active: false, position: 9 })
    const listIds = async (query: string) =>
      (await get(`/v1/consents?organization_id=${other.organization}&${query}`)).body.results.map(
        ({ id }: { id: string }) => id,
      )
    expect(await listIds('ordering=created')).toEqual([everywhere.id, here.id, off.id])
    expect(await listIds(`edition_id=${other.edition}`)).toEqual([here.id])
    expect(await listIds('type=photo')).toEqual([here.id])
    expect(await listIds('is_active=false')).toEqual([off.id])
    expect(await listIds('search=PAERER')).toEqual([everywhere.id])
    expect(await listIds('search=fruit')).toEqual([everywhere.id])
    expect((await listIds('ordering=-position'))[0]).toBe(off.id)
  })
})
