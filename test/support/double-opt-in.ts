import { eq } from 'drizzle-orm'
import { expect } from 'vitest'
import { transactionalEmails } from '../../src/db/schema/transactional-emails.ts'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { get } from './api.ts'
import { give } from './consent-pages.ts'
import { type Conduct, createProvider, createReceiptEngine, selectEmails } from './receipts.ts'
import { seedScene, type Scene } from './seeding/customers.ts'
import { givenConsent } from './seeding/messaging/consents.ts'
import { db } from './seeding/rows.ts'

export const request = { method: 'double_opt_in', source: 'checkout' }
export const ask = (scene: Scene, consent: string, fields: object = {}) =>
  give(scene.person, consent, { ...request, ...fields })

export const listMails = ({ organization }: Pick<Scene, 'organization'>) =>
  db.all(
    selectEmails()
      .where(eq(transactionalEmails.organization_id, organization))
      .orderBy(transactionalEmails.created_at, transactionalEmails.id),
  )

/** Sends due messages to a provider that plays the script, and returns those for the scene's person. */
export async function deliver(scene: Scene, script: Conduct[] = [], now = Date.now() + 1000): Promise<OutboundEmail[]> {
  const provider = createProvider({ deduplicates: true })
  provider.play(script)
  const engine = createReceiptEngine(provider.gateway, now)
  await engine.run()
  return provider.calls.map(({ email }) => email).filter(({ to }) => to.address === scene.person.email)
}

export const readLink = ({ text }: Pick<OutboundEmail, 'text'>): string =>
  /https:\/\/[^\s/]+(\/consents\/confirm\/[\w-]+)/.exec(text)?.[1] ?? ''

/** Requests the consent, sends the message, and returns the path of its link. */
export async function requestConfirmation(fields: Record<string, unknown> = {}, answer: object = {}) {
  const scene = await seedScene()
  const consent = await givenConsent(scene.organization, fields)
  expect((await ask(scene, consent.id, answer)).status).toBe(200)
  const [mail] = await deliver(scene)
  if (!mail) throw new Error('no message came')
  return { scene, consent, mail, path: readLink(mail) }
}

export const readStatus = async ({ person }: Scene, consent: string) =>
  (await get(`/v1/user/${person.id}/consents`)).body.results.find(({ id }: { id: string }) => id === consent)
