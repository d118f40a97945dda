import { beforeEach, describe, expect, it } from 'vitest'
import { createFailure } from '../../src/domain/messaging/messaging.ts'
import { call, get } from '../support/api.ts'
import { give, pageOf } from '../support/consent-pages.ts'
import { ask, deliver, readStatus, request } from '../support/double-opt-in.ts'
import { createProvider, createReceiptEngine } from '../support/receipts.ts'
import { seedScene } from '../support/seeding/customers.ts'
import { givenMember } from '../support/seeding/members.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { attach, givenTwo, stranger } from '../support/shared-customers.ts'
import { visit } from '../support/visits.ts'

describe('the e-mail that asks to confirm an answer', () => {
  const reason = 'The e-mail provider answers 500.'
  const fault = { ...createFailure('transient', 'http_500', ''), status: 500 }
  // E-mails of other tests would take the provider's first answers.
  beforeEach(() => createReceiptEngine(createProvider({ deduplicates: true }).gateway, Date.now() + 60_000).run())
  const readAnswer = async (user: string, consent: string, token: string) => {
    const { body } = await get(`/v1/user/${user}/consents`, token)
    return body.results.find(({ id }: { id: string }) => id === consent)
  }

  /** Asks a customer of two editions for a consent of the organisation and one of their edition, in vain. */
  async function givenAsked() {
    const two = await givenTwo()
    await attach(two, { email: stranger.email })
    const { body: orders } = await get(`/v1/orders?edition_id=${two.theirs.edition_id}`, two.organizationManager)
    const shared = await givenConsent(two.mine.organization_id)
    const own = await givenConsent(two.mine.organization_id, { edition_id: two.theirs.edition_id })
    const answer = { language: 'en', ...request, order_id: orders.results[0].id }
    for (const { id } of [shared, own]) {
      const path = `/v1/user/${two.user}/consents/${id}/give`
      const reply = await call(path, { body: answer, token: two.organizationManager })
      expect(reply.body).toMatchObject({ status: 'pending', confirmation_email: { status: 'pending' } })
    }
    const provider = createProvider({ deduplicates: true })
    provider.play([fault, fault])
    await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
    return { two, shared, own, answer }
  }

  it('says what it waits for while the provider fails, and belongs to the latest answer alone', async () => {
    const scene = await seedScene()
    const consent = await givenConsent(scene.organization)
    const { body } = await ask(scene, consent.id)
    const created = body.confirmation_email.created
    const noWait = { waiting_reason: null, waiting_since: null, next_attempt_at: null }
    const email = { status: 'pending', error_code: null, ...noWait, sent_at: null, created }
    expect(body.confirmation_email).toEqual(email)
    await deliver(scene, [fault])
    const answer = await readStatus(scene, consent.id)
    const wait = { waiting_reason: reason, waiting_since: expect.any(String), next_attempt_at: expect.any(String) }
    expect(answer.confirmation_email).toEqual({ ...email, error_code: 'http_500', ...wait })
    expect((await ask(scene, consent.id)).body).toEqual(answer)
    expect((await visit(await pageOf(scene, scene.person))).text).toContain('has not been sent yet')
    const skipReply = await give(scene.person, consent.id, {}, 'skip')
    expect(skipReply.body).toMatchObject({ status: 'skipped', confirmation_email: null })
    expect((await readStatus(scene, consent.id)).confirmation_email).toBeNull()
  })

  it('is shown to roles of the organisation and of the edition that asked', async () => {
    const { two, shared, own } = await givenAsked()
    const theirManager = await givenMember({ id: two.mine.organization_id }, 'manager', two.theirs.edition_id)
    for (const token of [two.organizationViewer, theirManager.token])
      for (const { id } of [shared, own])
        expect((await readAnswer(two.user, id, token)).confirmation_email).toMatchObject({ waiting_reason: reason })
  })

  it('is hidden from roles of other editions, who cannot find the answer to a question of that edition', async () => {
    const { two, shared, own, answer } = await givenAsked()
    for (const token of [two.manager, two.viewer]) {
      const hiddenAnswer = await readAnswer(two.user, shared.id, token)
      expect(hiddenAnswer).toMatchObject({ status: 'pending', record: { language: null }, confirmation_email: null })
      expect(await readAnswer(two.user, own.id, token)).toBeUndefined()
    }
    const repetition = await call(`/v1/user/${two.user}/consents/${own.id}/give`, { body: answer, token: two.manager })
    expect(repetition.status).toBe(404)
  })

  it('is hidden from other organisations', async () => {
    const { two } = await givenAsked()
    const { organizationManager: foreigner } = await givenTwo()
    expect((await get(`/v1/user/${two.user}/consents`, foreigner)).status).toBe(404)
  })
})
