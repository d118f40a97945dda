import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { sha256, toBase64 } from '../../src/domain/text/encoding.ts'
import { findLinkedPerson, loadPreferences } from '../../src/modules/consent-pages/preferences.ts'
import { patch } from '../support/api.ts'
import {
  choose,
  listEvents,
  readForm,
  give,
  pageOf,
  listAllRecords,
  send,
  dumpState,
} from '../support/consent-pages.ts'
import { createContextAt } from '../support/context.ts'
import { seedScene, seedPeople } from '../support/seeding/customers.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { write, db } from '../support/seeding/rows.ts'
import { seedEndpoint } from '../support/seeding/webhooks.ts'
import { visit } from '../support/visits.ts'

describe('the page of a person’s consents', () => {
  it.each([
    ['en', 'Your consents', 'You agreed on'],
    ['da', 'Dine samtykker', 'Du gav samtykke den'],
    ['sv-SE', 'Dina samtycken', 'Du samtyckte den'],
    ['nl', 'Uw toestemmingen', 'U hebt op'],
    ['pl', 'Twoje zgody', 'Zgoda udzielona:'],
  ])(
    'says in %s what the person agreed to, with its wording, and shows markup in texts as text',
    async (locale, title, agreed) => {
      const scene = await seedScene({ locale }, 'Nord & <b>lys</b>')
      const hostile = { en: '<script>x</script> & "q"', da: '<script>x</script> & "q"' }
      const consent = await givenConsent(scene.organization, {
        title: hostile,
        text: hostile,
        link_url: { en: 'https://example.com/?a=1&b=2' },
      })
      const open = await givenConsent(scene.organization)
      const foreign = await givenConsent((await seedScene()).organization)
      await give(scene.person, consent.id)
      const page = await visit(await pageOf(scene, scene.person))
      expect(page.status).toBe(200)
      expect(page.text).toContain(`<html lang="${locale.slice(0, 2)}">`)
      for (const text of [
        title,
        agreed,
        'Nord &amp; &lt;b&gt;lys&lt;/b&gt;',
        scene.person.email ?? '?',
        '&lt;script&gt;x&lt;/script&gt;',
      ])
        expect(page.text).toContain(text)
      expect(page.text).not.toMatch(/<script|<b>lys|undefined|\[object/)
      expect(page.text).not.toContain(foreign.id)
      expect(readForm(page.text)).toEqual({ shown: [`${consent.id} 1 1`, `${open.id} 1 0`], given: [consent.id] })
      expect((await visit(`${await pageOf(scene, scene.person)}?language=pl`)).text).toContain('Twoje zgody')
    },
  )

  it('changes nothing on GET, and cannot be cached or framed', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    await give(scene.person, consent.id)
    const path = await pageOf(scene, scene.person)
    const before = await dumpState(scene)
    for (const method of ['GET', 'HEAD', 'GET'])
      expect((await visit(`${path}?given=${consent.id}`, { method })).status).toBe(200)
    expect((await visit(path, { method: 'OPTIONS' })).status).not.toBe(500)
    expect(await dumpState(scene)).toEqual(before)
    const { headers, text } = await visit(path)
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(text) ?? []
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain(`style-src 'sha256-${toBase64(await sha256(style))}'`)
    for (const part of ["default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"])
      expect(policy).toContain(part)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(headers.get('x-robots-tag')).toBe('noindex')
    expect(headers.get('set-cookie')).toBeNull()
  })

  it('saves given and withdrawn consents of one form, each with a record, a webhook and an audit entry', async () => {
    const scene = await seedScene({ locale: 'da' })
    const [first, second, third] = [
      await givenConsent(scene.organization),
      await givenConsent(scene.organization),
      await givenConsent(scene.organization, { edition_id: scene.edition, type: 'photo', channels: [] }),
    ]
    await give(scene.person, first.id)
    await give(scene.other, first.id)
    await seedEndpoint(
      { organization: scene.organization, edition: scene.edition },
      { events: ['consent.given', 'consent.withdrawn'], edition_id: null },
    )
    const path = await pageOf(scene, scene.person)
    const entries = (await db.all(sql`select id from audit_log where organization_id = ${scene.organization}`)).length
    const form = readForm((await visit(path)).text)
    const wanted = { ...form, given: [second.id, third.id] }
    const actionReply = await send(path, wanted)
    expect([actionReply.status, actionReply.text.includes('Dine valg er gemt.')]).toEqual([200, true])
    expect(readForm(actionReply.text).given.toSorted()).toEqual([second.id, third.id].toSorted())
    const replayed = await send(path, wanted)
    expect([replayed.status, replayed.text.includes('Intet blev ændret.')]).toEqual([200, true])

    const latest = (await listAllRecords(scene.person)).filter(({ is_latest }) => is_latest === 1)
    const common = { method: 'checkbox', source: 'preferences_page', language: 'da', order_id: null }
    expect(latest.toSorted((a, b) => (a.consent_id < b.consent_id ? -1 : 1))).toMatchObject(
      [
        { consent_id: first.id, status: 'withdrawn', number: 2, expires_at: null, ...common },
        { consent_id: second.id, status: 'given', number: 1, content_hash: second.content_hash, ...common },
        { consent_id: third.id, status: 'given', number: 1, edition_id: scene.edition, ...common },
      ].toSorted((a, b) => (a.consent_id < b.consent_id ? -1 : 1)),
    )
    expect(JSON.parse(latest[0]?.evidence ?? '{}')).toEqual({
      ip_prefix: '203.0.113.0/24',
      user_agent: expect.stringContaining('iPhone'),
    })
    expect(JSON.stringify(latest)).not.toContain('203.0.113.77')
    expect(await listAllRecords(scene.other)).toMatchObject([{ status: 'given', is_latest: 1 }])
    const events = (await listEvents(scene.organization)).map(({ kind, payload }) => [
      kind,
      JSON.parse(payload).data.user.api_id,
    ])
    expect(
      events
        .filter(([, id]) => id === scene.person.id)
        .map(([kind]) => kind)
        .toSorted(),
    ).toEqual(['consent.given', 'consent.given', 'consent.given', 'consent.withdrawn'])
    const deliveries =
      await db.all(sql`select 1 from webhook_deliveries join webhook_events on webhook_events.id = event_id
      where webhook_events.organization_id = ${scene.organization}`)
    expect(deliveries).toHaveLength(3)
    const audit = await db.all(sql<{
      actor_id: string
      action: string
      changes: string
    }>`select actor_id, action, changes
      from audit_log where organization_id = ${scene.organization} and actor_id = ${scene.person.id}`)
    expect(audit.map(({ action }) => action).toSorted()).toEqual(['giveConsent', 'giveConsent', 'withdrawConsent'])
    expect((await db.all(sql`select id from audit_log where organization_id = ${scene.organization}`)).length).toBe(
      entries + 3,
    )
  })

  it('records one answer when the form is sent twice at the same time', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const path = await pageOf(scene, scene.person)
    const form = readForm((await visit(path)).text)
    const replies = await Promise.all(Array.from({ length: 6 }, () => send(path, { ...form, given: [consent.id] })))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(await listAllRecords(scene.person)).toMatchObject([{ status: 'given', number: 1, is_latest: 1 }])
    expect(await listEvents(scene.organization)).toHaveLength(1)
  })

  it('shows the state of each consent: outdated, expired, pending, skipped, withdrawn', async () => {
    const scene = await seedScene()
    const texts = { text: { en: 'Another wording' } }
    const outdated = await givenConsent(scene.organization, { reconsent_on_change: true })
    const [over, skipped, withdrawn] = [
      await givenConsent(scene.organization, { expires_after_days: 1 }),
      await givenConsent(scene.organization),
      await givenConsent(scene.organization),
    ]
    for (const { id } of [outdated, over, withdrawn]) await give(scene.person, id)
    await give(scene.person, skipped.id, {}, 'skip')
    await give(scene.person, withdrawn.id, {}, 'withdraw')
    await write(sql`update consent_records set expires_at = ${Date.now() - 1000} where consent_id = ${over.id}`)
    expect((await patch(`/v1/consents/${outdated.id}`, texts)).status).toBe(200)
    const { text } = await visit(await pageOf(scene, scene.person))
    for (const words of [
      'to an earlier wording',
      'It expired on',
      'and did not agree',
      'You withdrew your consent on',
      'Another wording',
    ])
      expect(text).toContain(words)
    expect(readForm(text).given).toEqual([])
    // The box is empty, so that the person agrees to the new wording with a click.
    await choose(await pageOf(scene, scene.person), { give: [outdated.id] })
    expect(
      (await listAllRecords(scene.person)).find(
        ({ consent_id, is_latest }) => consent_id === outdated.id && is_latest === 1,
      ),
    ).toMatchObject({
      status: 'given',
      consent_version: 2,
    })
  })
})

describe('a form of the page of consents', () => {
  it('lets the person withdraw a consent that is no longer asked for', async () => {
    const scene = await seedScene()
    const [held, withdrawnConsent] = [await givenConsent(scene.organization), await givenConsent(scene.organization)]
    await give(scene.person, held.id)
    for (const { id } of [held, withdrawnConsent]) await patch(`/v1/consents/${id}`, { is_active: false })
    const path = await pageOf(scene, scene.person)
    const { text } = await visit(path)
    expect(readForm(text).shown).toEqual([`${held.id} 1 1`])
    const page = await choose(path, { withdraw: [held.id] })
    expect([page.status, readForm(page.text).shown]).toEqual([200, []])
    expect(await listAllRecords(scene.person)).toMatchObject([
      { status: 'given' },
      { status: 'withdrawn', is_latest: 1 },
    ])
  })

  it('does not let the person change an answer whose legal basis is a contract', async () => {
    const scene = await seedScene()
    const terms = await givenConsent(scene.organization, { type: 'terms', channels: [], legal_basis: 'contract' })
    await give(scene.person, terms.id)
    const { text } = await visit(await pageOf(scene, scene.person))
    expect(text).toContain('is not based on your consent')
    expect(readForm(text).shown).toEqual([])
  })

  it('lifts an unsubscription when the person consents to marketing by that channel', async () => {
    const scene = await seedScene()
    const [news, photo, text] = [
      await givenConsent(scene.organization),
      await givenConsent(scene.organization, { type: 'photo', channels: [] }),
      await givenConsent(scene.organization, { channels: ['sms'] }),
    ]
    const suppressFor = (reason: string) =>
      write(
        sql`delete from suppressions where organization_id = ${scene.organization}`,
        sql`insert into suppressions (organization_id, channel, address, reason, created_at)
          values (${scene.organization}, 'email', ${scene.person.email}, ${reason}, 1)`,
      )
    const reasons = () =>
      db.all(sql<{ reason: string }>`select reason from suppressions where organization_id = ${scene.organization}`)
    const path = await pageOf(scene, scene.person)
    await suppressFor('unsubscribed')
    expect((await visit(path)).text).toContain('You have unsubscribed')
    await choose(path, { give: [photo.id, text.id] })
    expect(await reasons()).toHaveLength(1)
    await choose(path, { give: [news.id] })
    expect(await reasons()).toEqual([])
    for (const reason of ['complaint', 'hard_bounce', 'invalid']) {
      await suppressFor(reason)
      await choose(path, { withdraw: [news.id] })
      expect((await visit(path)).text).toContain('whatever you choose here')
      await choose(path, { give: [news.id] })
      expect(await reasons()).toEqual([{ reason }])
    }
  })

  it('reads as many rows with many people and answers as with few', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const path = await pageOf(scene, scene.person)
    const look = async () => {
      const job = createContextAt(Date.now())
      const person = await findLinkedPerson(job, path.slice('/consents/'.length))
      if (!person) throw new Error('the link opens nothing')
      await loadPreferences(job, person, 'en')
      return job.db.meter
    }
    const addPeople = async (people: number) => {
      await seedPeople(
        { organization: scene.organization, edition: scene.edition },
        Array.from({ length: people }, () => ({})),
      )
      for (let times = 0; times < 4; times++) {
        await choose(path, { give: [consent.id] })
        await choose(path, { withdraw: [consent.id] })
      }
    }
    await addPeople(10)
    const few = await look()
    expect(few).toMatchObject({ queries: 3, rows_written: 0 })
    expect(few.rows_read).toBeLessThanOrEqual(16)
    await addPeople(100)
    expect(await look()).toEqual(few)
  })
})
