import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { mintLinkToken } from '../../src/domain/campaigns/link-tokens.ts'
import { mintConfirmationToken, preferencesLinkMs } from '../../src/domain/consents/consent-tokens.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { post } from '../support/api.ts'
import { give, linkKey, pageOf, send, dumpState } from '../support/consent-pages.ts'
import { seedScene } from '../support/seeding/customers.ts'
import { seedEdition } from '../support/seeding/editions.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { write } from '../support/seeding/rows.ts'
import { visit } from '../support/visits.ts'

describe('a link to the page', () => {
  it('is refused when it is forged, foreign, expired, of another kind or for another person’s address', async () => {
    const [scene, elsewhere] = [await seedScene(), await seedScene()]
    const consent = await givenConsent(scene.organization)
    await give(scene.person, consent.id)
    const good = await pageOf(scene, scene.person)
    const answer = { user_id: scene.person.id, consent_id: consent.id, number: 1 }
    const sentTo = { organization_id: scene.organization, channel: 'email' as const, address: scene.person.email ?? '' }
    const unsubscribe = { kind: 'unsubscribe' as const, campaign_id: `cmp_${scene.person.id.slice(4)}`, n: 1, link: 0 }
    const bad = [
      '/consents/x',
      `${good.slice(0, -1)}${good.endsWith('A') ? 'B' : 'A'}`,
      `${good}A`,
      await pageOf(elsewhere, scene.person),
      await pageOf(scene, scene.person, { address: scene.other.email ?? '' }),
      await pageOf(scene, scene.person, { channel: 'sms' }),
      await pageOf(scene, scene.person, { made_at: Date.now() - preferencesLinkMs - dayMs }),
      await pageOf(scene, { id: 'usr_00000000000000000000000000', email: scene.person.email }),
      `/consents/${mintConfirmationToken(linkKey, { ...sentTo, ...answer })}`,
      `/consents/${mintLinkToken(linkKey, unsubscribe)}`,
      `/consents/confirm/${good.slice('/consents/'.length)}`,
      `/consents/confirm/${mintConfirmationToken('another key', { ...sentTo, ...answer })}`,
    ]
    const before = await dumpState(scene)
    const pages = await Promise.all(
      bad.flatMap((path) => [visit(path), visit(path, { method: 'POST', body: `given=${consent.id}` })]),
    )
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 404))
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    expect(await dumpState(scene)).toEqual(before)
    expect((await visit(good)).status).toBe(200)
  })

  it('works for every address of the person, and ends when that address changes', async () => {
    const scene = await seedScene()
    const [sms, mail] = [
      await pageOf(scene, scene.person, { channel: 'sms', address: scene.person.phone_number ?? '' }),
      await pageOf(scene, scene.person),
    ]
    for (const path of [sms, mail]) expect((await visit(path)).status).toBe(200)
    expect((await visit(sms)).text).toContain(scene.person.phone_number)
    await write(sql`update users set email = ${`new-${scene.person.email}`} where id = ${scene.person.id}`)
    // Editions that imported the person earlier still have the old address.
    expect([(await visit(sms)).status, (await visit(mail)).status]).toEqual([200, 404])
  })

  it('is refused once the person is erased', async () => {
    const scene = await seedScene()
    const path = await pageOf(scene, scene.person)
    expect((await visit(path)).status).toBe(200)
    expect((await post(`/v1/user/${scene.person.id}/erase`, {})).status).toBeLessThan(300)
    expect((await visit(path)).status).toBe(404)
  })
})

describe('a form that differs from the page', () => {
  const expectStale = async (
    change: (
      scene: Awaited<ReturnType<typeof seedScene>>,
      own: string,
    ) => Promise<{ shown: string[]; given: string[] }>,
  ) => {
    const scene = await seedScene()
    const ownConsent = await givenConsent(scene.organization)
    const form = await change(scene, ownConsent.id)
    const before = await dumpState(scene)
    const reply = await send(await pageOf(scene, scene.person), {
      shown: [`${ownConsent.id} 1 0`, ...form.shown],
      given: [ownConsent.id, ...form.given],
    })
    expect([reply.status, reply.text.includes('Nothing was saved')]).toEqual([409, true])
    expect(await dumpState(scene)).toEqual(before)
  }

  it('saves nothing when it names a consent of another organisation', () =>
    expectStale(async () => {
      const foreign = await givenConsent((await seedScene()).organization)
      return { shown: [`${foreign.id} 1 0`], given: [foreign.id] }
    }))

  it('saves nothing when it names a consent of an edition in which the person is unknown', () =>
    expectStale(async (scene) => {
      const edition = await seedEdition({ id: scene.organization })
      const { id } = await givenConsent(scene.organization, { edition_id: edition.id })
      return { shown: [`${id} 1 0`], given: [id] }
    }))

  it('saves nothing when it names a consent that is no longer asked for', () =>
    expectStale(async (scene) => {
      const { id } = await givenConsent(scene.organization, { is_active: false })
      return { shown: [`${id} 1 0`], given: [id] }
    }))

  it('saves nothing when it names an answer whose legal basis is not consent', () =>
    expectStale(async (scene) => {
      const { id } = await givenConsent(scene.organization, { type: 'terms', channels: [], legal_basis: 'contract' })
      return { shown: [`${id} 1 0`], given: [id] }
    }))

  it('saves nothing when a checkbox has no version, comes twice, or was shown with another wording', async () => {
    await expectStale(async (scene) => ({ shown: [], given: [(await givenConsent(scene.organization)).id] }))
    await expectStale(async (_, own) => ({ shown: [`${own} 1 0`], given: [] }))
    await expectStale(async (scene) => {
      const { id } = await givenConsent(scene.organization)
      return { shown: [`${id} 2 0`], given: [id] }
    })
    await expectStale(async () => ({ shown: ['x'.repeat(5000)], given: [] }))
  })

  it('changes nothing when it is empty, and is refused when it is too large', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await give(scene.person, consent.id)
    const path = await pageOf(scene, scene.person)
    const before = await dumpState(scene)
    for (const body of ['', 'List-Unsubscribe=One-Click', 'given=', '%', '{"given":[]}']) {
      const { status } = await visit(path, { method: 'POST', body })
      expect([body, status]).toEqual([body, body === 'given=' ? 409 : 200])
    }
    expect((await visit(path, { method: 'POST', body: 'x'.repeat(70_000) })).status).toBe(413)
    expect(await dumpState(scene)).toEqual(before)
  })
})
