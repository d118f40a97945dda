import { expect } from 'vitest'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { call, callWith, type Reply } from './api.ts'
import { createProvider, createReceiptEngine } from './receipts.ts'
import { seedAccount, seedMember } from './seeding/members.ts'
import { next } from './seeding/rows.ts'

/** A network of its own for each call, because networks are limited. */
export const newNetwork = (): string => `100.${(next() >> 16) & 255}.${(next() >> 8) & 255}.${next() & 255}`

const path = '/v1/auth/sign-in-codes'

export const requestCode = (email: string, network = newNetwork(), fields: object = {}): Promise<Reply> =>
  call(path, { token: null, body: { email, ...fields }, headers: { 'cf-connecting-ip': network } })

/** Sends due messages, and returns those to the address. */
export async function deliverTo(address: string, now = Date.now() + 1000): Promise<OutboundEmail[]> {
  const provider = createProvider({ deduplicates: true })
  await createReceiptEngine(provider.gateway, now).run()
  return provider.calls.map(({ email }) => email).filter(({ to }) => to.address === address)
}

export const readCode = ({ text }: Pick<OutboundEmail, 'text'>): string => /^\d{8}$/m.exec(text)?.[0] ?? ''

export const createSession = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  call('/v1/auth/sessions', { token: null, body, headers })

export const createSessionWith = (
  bindings: object,
  body: object,
  headers: Record<string, string> = {},
): Promise<Reply> => callWith(bindings, '/v1/auth/sessions', { token: null, body, headers })

export async function seedMemberWithEmail(
  organization: string,
  role: 'admin' | 'manager' | 'viewer' = 'viewer',
): Promise<{ email: string; account: string; member: string }> {
  const email = `signing-in-${next()}@example.test`
  const account = await seedAccount(email)
  return { email, account, member: await seedMember(account, { organization, role }) }
}

/** Requests a code and reads it from its message. */
export async function receiveCode(email: string): Promise<{ request_id: string; code: string }> {
  const reply = await requestCode(email)
  expect(reply.status).toBe(201)
  const [mail] = await deliverTo(email)
  if (!mail) throw new Error('no message came')
  return { request_id: reply.body.request_id, code: readCode(mail) }
}

/** Signs in by a code. */
export async function givenSession(email: string): Promise<{ id: string; token: string }> {
  const reply = await createSession(await receiveCode(email))
  expect(reply.status, reply.text).toBe(201)
  return reply.body as { id: string; token: string }
}
