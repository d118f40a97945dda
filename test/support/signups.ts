import { sql } from 'drizzle-orm'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { site } from './seeding/messaging/signup-forms.ts'
import { db, unique } from './seeding/rows.ts'
import { deliverTo, newNetwork } from './sign-in.ts'
import { visit } from './visits.ts'

export const pageSite = 'https://events.example.test'

export const freshAddress = (): string => `visitor-${unique()}@example.test`

export interface SignupFields {
  email?: string
  consent?: string | readonly string[]
  fields?: Record<string, string>
  headers?: Record<string, string>
}

/** Sends the form as its own page does, from a network of its own. */
export function signUp(
  path: string,
  { email = freshAddress(), consent = [], fields = {}, headers = {} }: SignupFields,
) {
  const body = new URLSearchParams({ email, ...fields })
  for (const id of [consent].flat()) body.append('consent', id)
  return visit(path, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'cf-connecting-ip': newNetwork(),
      origin: pageSite,
      ...headers,
    },
    body: body.toString(),
  })
}

/** Sends the form as a script of an allowed site does. */
export const signUpByScript = (path: string, { headers, ...signup }: SignupFields) =>
  signUp(path, { ...signup, headers: { origin: site, accept: 'application/json', ...headers } })

export const readSignupLink = ({ text }: Pick<OutboundEmail, 'text'>): string =>
  /https:\/\/[^\s/]+(\/signup\/confirm\/[\w-]+)/.exec(text)?.[1] ?? ''

/** Signs up, delivers the mail, and returns it with the path of its link. */
export async function requestLink(path: string, sent: SignupFields & { email: string }) {
  const reply = await signUp(path, sent)
  if (reply.status !== 200) throw new Error(reply.text)
  const [mail, ...others] = await deliverTo(sent.email)
  if (!mail || others.length > 0) throw new Error(`${others.length} other mails`)
  return { mail, link: readSignupLink(mail) }
}

export const confirm = (link: string) =>
  visit(link, { method: 'POST', headers: { 'cf-connecting-ip': '203.0.113.77' }, body: 'confirm=1' })

export const listRequests = (form: string) =>
  db.all(
    sql<{
      id: string
      address: string | null
      evidence: string | null
      confirmed_at: number | null
    }>`select id, address, evidence, confirmed_at from signup_requests where form_id = ${form} order by id`,
  )

export const listMailsTo = (address: string) =>
  db.all(sql<{
    id: string
    status: string
    user_id: string | null
  }>`select id, status, user_id from transactional_emails
    where recipient = ${address} order by created_at, id`)

export const findCustomer = (organization: string, email: string) =>
  db.first(
    sql<{
      id: string
      seq: number
      first_name: string
      last_name: string
      locale: string
    }>`select id, seq, first_name, last_name, locale from users where organization_id = ${organization} and email = ${email}`,
  )

export const listEditionCustomers = (seq: number) =>
  db.all(
    sql<{
      edition_id: string
      email: string | null
      first_name: string
      locale: string
    }>`select edition_id, email, first_name, locale from edition_customers where user_seq = ${seq} order by seq`,
  )

export const listAnswers = (user: string) =>
  db.all(sql<{
    consent_id: string
    status: string
    method: string
    source: string
    consent_version: number
    language: string
    evidence: string
  }>`select consent_id, status, method, source, consent_version, language, evidence from consent_records
    where user_id = ${user} order by number`)
