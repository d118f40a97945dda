import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { mintConfirmationToken } from '../../src/domain/consents/consent-tokens.ts'
import { dayMs } from '../../src/domain/time/instants.ts'
import { sweepLapsed } from '../../src/modules/consents/jobs.ts'
import { get, patch, post } from '../support/api.ts'
import { listEvents, give, linkKey, pageOf, listAllRecords, dumpState } from '../support/consent-pages.ts'
import { createContextAt } from '../support/context.ts'
import { ask, deliver, readLink, requestConfirmation, readStatus } from '../support/double-opt-in.ts'
import { seedScene, type Scene } from '../support/seeding/customers.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { write, db } from '../support/seeding/rows.ts'
import { visit } from '../support/visits.ts'

describe('a link that confirms a consent', () => {
  const expectDead = async (scene: Scene, path: string) => {
    const before = await dumpState(scene)
    const pages = [await visit(path), await visit(path, { method: 'POST' }), await visit('/consents/confirm/x')]
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 404])
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1)
    expect(await dumpState(scene)).toEqual(before)
  }

  it('is refused once the person has given another answer', async () => {
    const { scene, consent, path } = await requestConfirmation()
    await give(scene.person, consent.id, {}, 'withdraw')
    await expectDead(scene, path)
    // A new request sends another link, and the old link stays invalid.
    await ask(scene, consent.id)
    await expectDead(scene, path)
    const [mail] = await deliver(scene)
    expect((await visit(readLink(mail ?? { text: '' }), { method: 'POST' })).status).toBe(200)
    await expectDead(scene, path)
    expect((await listAllRecords(scene.person)).at(-1)).toMatchObject({ status: 'given', number: 4 })
  })

  it('is refused once the consent is no longer asked for', async () => {
    const { scene, consent, path } = await requestConfirmation()
    await patch(`/v1/consents/${consent.id}`, { is_active: false })
    await expectDead(scene, path)
  })

  it('is refused once the address is no longer the person’s, and once the person is erased', async () => {
    const moved = await requestConfirmation()
    await write(
      sql`update users set email = 'moved@example.test' where id = ${moved.scene.person.id}`,
      sql`update edition_customers set email = null where user_seq = ${moved.scene.person.seq}`,
    )
    await expectDead(moved.scene, moved.path)
    const erased = await requestConfirmation()
    await post(`/v1/user/${erased.scene.person.id}/erase`, {})
    await expectDead(erased.scene, erased.path)
  })

  it('is valid for one person, one consent and one answer', async () => {
    const { scene, consent, path } = await requestConfirmation()
    const second = await givenConsent(scene.organization)
    const elsewhere = await seedScene()
    const good = {
      user_id: scene.person.id,
      consent_id: consent.id,
      number: 1,
      organization_id: scene.organization,
      channel: 'email' as const,
      address: scene.person.email ?? '',
    }
    const mint = async (more: Partial<typeof good>) =>
      `/consents/confirm/${mintConfirmationToken(linkKey, { ...good, ...more })}`
    expect(await mint({})).toBe(path)
    for (const wrong of [
      { user_id: scene.other.id },
      { consent_id: second.id },
      { number: 2 },
      { number: 0 },
      { organization_id: elsewhere.organization },
      { address: scene.other.email ?? '' },
    ])
      await expectDead(scene, await mint(wrong))
    await expectDead(scene, `${path}A`)
    expect((await visit((await pageOf(scene, scene.person)).replace('/consents/', '/consents/confirm/'))).status).toBe(
      404,
    )
    expect((await visit(path)).status).toBe(200)
  })

  it('gives the consent to the wording that the person was asked about, although a newer one exists', async () => {
    const { scene, consent, path } = await requestConfirmation({ reconsent_on_change: true })
    await patch(`/v1/consents/${consent.id}`, { text: { en: 'Something else altogether' } })
    const page = await visit(path)
    expect(page.text).not.toContain('Something else')
    expect((await visit(path, { method: 'POST' })).status).toBe(200)
    expect((await listAllRecords(scene.person)).at(-1)).toMatchObject({ status: 'given', consent_version: 1 })
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'given', is_current: false })
  })

  it('lifts an unsubscription that came after the request', async () => {
    const { scene, path } = await requestConfirmation()
    await write(sql`insert into suppressions (organization_id, channel, address, reason, created_at)
      values (${scene.organization}, 'email', ${scene.person.email}, 'unsubscribed', 1)`)
    await visit(path, { method: 'POST' })
    expect(await db.all(sql`select 1 from suppressions where organization_id = ${scene.organization}`)).toEqual([])
  })
})

describe('a request that is not confirmed', () => {
  const lapse = async (scene: Scene) =>
    write(sql`update consent_records set expires_at = expires_at - ${8 * dayMs}, occurred_at = occurred_at - ${8 * dayMs}
      where organization_id = ${scene.organization} and status = 'pending'`)

  it('expires after exactly seven days, and its end is recorded once', async () => {
    const { scene, consent, path } = await requestConfirmation()
    const [record] = await listAllRecords(scene.person)
    expect((record?.expires_at ?? 0) - (record?.occurred_at ?? 0)).toBe(7 * dayMs)
    await lapse(scene)
    expect((await visit(path)).status).toBe(404)
    expect((await visit(path, { method: 'POST' })).status).toBe(404)
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'skipped', is_current: false })
    const job = () => ({ ...createContextAt(Date.now()) })
    await Promise.all([sweepLapsed(job()), sweepLapsed(job())])
    await sweepLapsed(job())
    expect(await listAllRecords(scene.person)).toMatchObject([
      { status: 'pending', is_latest: 0 },
      { status: 'skipped', method: 'expiry', source: 'confirmation_lapsed', is_latest: 1, expires_at: null },
    ])
    expect((await listEvents(scene.organization)).map(({ kind }) => kind)).toEqual(['consent.skipped'])
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'skipped' })
    expect((await visit(path)).status).toBe(404)
    expect((await ask(scene, consent.id)).body.status).toBe('pending')
  })

  it('leaves an earlier withdrawal in force, also in the statistics', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await give(scene.person, consent.id)
    await give(scene.person, consent.id, {}, 'withdraw')
    await ask(scene, consent.id)
    await write(
      sql`update consent_records set expires_at = ${Date.now() - 1} where status = 'pending' and user_id = ${scene.person.id}`,
    )
    expect(await readStatus(scene, consent.id)).toMatchObject({ status: 'withdrawn' })
    const before = (await listEvents(scene.organization)).length
    await sweepLapsed(createContextAt(Date.now()))
    expect((await listAllRecords(scene.person)).at(-1)).toMatchObject({
      status: 'withdrawn',
      source: 'confirmation_lapsed',
    })
    expect(await listEvents(scene.organization)).toHaveLength(before)
    expect((await get(`/v1/consents/${consent.id}`)).body.stats).toMatchObject({ given: 0, skipped: 0, withdrawn: 1 })
  })
})
