import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { addAfterCommit, commitPart, readInTransaction } from '../../../db/commit.ts'
import { signupRequests } from '../../../db/schema/signup-forms.ts'
import { insertWhere } from '../../../db/write.ts'
import { maxEmailLength, normalizeEmail } from '../../../domain/accounts/users.ts'
import {
  findMailbox,
  hashSignup,
  type ShownConsent,
  signupRequestMs,
  signupsPerNetwork,
  signupWindowMs,
} from '../../../domain/consents/signups.ts'
import type { Language } from '../../../domain/languages.ts'
import { hashAddress } from '../../../domain/messaging/suppressions.ts'
import { isStorable } from '../../../domain/text/text.ts'
import { buildSignupEmail, canAskAddress, enqueueEmails } from '../../transactional-emails/index.ts'
import type { PublicForm } from './form.ts'
import type { SignupEntries } from './page.ts'
import type { SignupFault } from './words.ts'

interface Signup {
  address: string
  language: Language
  consents: readonly ShownConsent[]
}

type ParsedSignup = { fault: SignupFault } | { fault: null; signup: Signup }

/** Checks what a visitor sent. Returns what is wrong with it, or the sign-up. */
export function parseSignup(form: PublicForm, { email, consentIds }: SignupEntries, language: Language): ParsedSignup {
  const fail = (fault: SignupFault) => ({ fault })
  const address = email.length <= maxEmailLength && isStorable(email) ? normalizeEmail(email) : null
  if (address === null) return fail('email_invalid')
  if (consentIds.length === 0) return fail('consent_missing')
  if (consentIds.some((id) => !form.consents.some((consent) => consent.id === id))) return fail('consent_unknown')
  const chosenConsents = form.consents.filter(({ id }) => consentIds.includes(id))
  if (form.consents.some((consent) => consent.is_required && !chosenConsents.includes(consent)))
    return fail('consent_required')
  const signup: Signup = { address, language, consents: chosenConsents.map(({ id, version }) => ({ id, version })) }
  return { fault: null, signup }
}

interface Visitor {
  network: string | null
  evidence: Readonly<Record<string, string>>
}

/**
 * Stores a request, and the e-mail that asks to confirm it where the address may be asked. The same statements run for
 * every address, and all requests count for the limits, so that neither the answer nor its time tells anything about an
 * address. Returns false when the form or the network has made too many requests.
 */
export async function requestSignup(
  job: JobCtx,
  form: PublicForm,
  { address, language, consents }: Signup,
  { network, evidence }: Visitor,
): Promise<boolean> {
  const now = job.now()
  const { organization_id, edition_id } = form
  const { linkSigningKey } = job.config
  const since = now - signupWindowMs
  const mailbox_hash = hashSignup(linkSigningKey, 'mailbox', `${organization_id}\0${findMailbox(address)}`)
  const network_hash = network === null ? null : hashSignup(linkSigningKey, 'network', network)
  const address_hash = await hashAddress(organization_id, { channel: 'email', address })
  const isAsked = sql`(${canAskAddress({ organization_id, address, address_hash }, now)}
    and not exists (select 1 from signup_requests where mailbox_hash = ${mailbox_hash} and address is not null
      and created_at > ${since}))`
  const isWithinLimits = sql`(select count(*) from signup_requests where form_id = ${form.id}
      and created_at > ${since}) < ${form.mails_per_hour}
    and (select count(*) from signup_requests where network_hash = ${network_hash}
      and created_at > ${since}) < ${signupsPerNetwork}`
  const row = {
    id: job.newId('signup_request'),
    form_id: form.id,
    organization_id,
    edition_id,
    address: sql`iif(${isAsked}, ${address}, null)`,
    mailbox_hash,
    network_hash,
    language,
    consents,
    evidence: sql`iif(${isAsked}, ${JSON.stringify(evidence)}, null)`,
    expires_at: now + signupRequestMs,
    created_at: now,
  }
  const email = { request_id: row.id, organization_id, edition_id, recipient: address, language }
  const requestRead = readInTransaction({
    requests: sql<{ id: string }>`select id from signup_requests where id = ${row.id}`,
  })
  await commitPart(job, [
    insertWhere(signupRequests, row, isWithinLimits),
    addAfterCommit(buildSignupEmail(job, email), () => enqueueEmails(job)),
    ...requestRead.statements,
  ])
  return requestRead.rows().requests?.length === 1
}
