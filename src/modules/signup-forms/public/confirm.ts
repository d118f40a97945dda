import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireOneChange, retryLostRaces } from '../../../db/commit.ts'
import { insertEditionCustomers } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { consents, consentVersions } from '../../../db/schema/consents.ts'
import { users } from '../../../db/schema/customers.ts'
import { editions } from '../../../db/schema/editions.ts'
import { organizations } from '../../../db/schema/organizations.ts'
import { signupForms, signupRequests } from '../../../db/schema/signup-forms.ts'
import { buildSelectList, decodeAs, makeNullable, type RowOf, select } from '../../../db/select.ts'
import { insert, update } from '../../../db/write.ts'
import { buildSearchColumns } from '../../../domain/accounts/users.ts'
import { mintPreferencesToken } from '../../../domain/consents/consent-tokens.ts'
import { chooseWording } from '../../../domain/consents/consents.ts'
import { readSignupToken, signupSource } from '../../../domain/consents/signups.ts'
import type { Language } from '../../../domain/languages.ts'
import { toIso } from '../../../domain/time/instants.ts'
import { commitAnswers, type ConfirmationContent, decidePersonAnswer, type Visit } from '../../consent-pages/index.ts'
import { listAddressAnswers, type PersonAnswer } from '../../consents/index.ts'
import { findSuppressionReason, restoreSuppressions } from '../../suppressions/index.ts'

const requestFields = {
  ...getTableColumns(signupRequests),
  organization_name: organizations.name,
  is_archived: makeNullable(editions.is_archived),
}

const wordingFields = {
  id: consents.id,
  name: consents.name,
  title: consentVersions.title,
  text: consentVersions.text,
  link_url: consentVersions.link_url,
  version: consentVersions.version,
  content_hash: consentVersions.content_hash,
}

type ShownWording = RowOf<typeof wordingFields>

/** A request that can be confirmed, or has been. */
interface ConfirmableRequest extends RowOf<typeof requestFields> {
  address: string
  /** The wordings that the visitor saw, of the consents that can still be given. */
  wordings: readonly ShownWording[]
}

/** Returns null for a link that is forged or has expired, or whose form was deleted. */
async function findConfirmableRequest(job: JobCtx, token: string): Promise<ConfirmableRequest | null> {
  const id = readSignupToken(job.config.linkReadingKeys, token)
  if (id === null) return null
  const [[request], wordings] = await job.db.batch([
    select(requestFields)
      .from(signupRequests)
      .innerJoin(signupForms, eq(signupForms.id, signupRequests.form_id))
      .innerJoin(organizations, eq(organizations.id, signupRequests.organization_id))
      .leftJoin(editions, eq(editions.id, signupRequests.edition_id))
      .where(eq(signupRequests.id, id)),
    decodeAs(
      wordingFields,
      sql<ShownWording>`select ${buildSelectList(wordingFields)}
        from signup_requests cross join json_each(signup_requests.consents) as shown
          join consents on consents.id = shown.value ->> 'id'
          join consent_versions on consent_versions.consent_id = consents.id
            and consent_versions.version = shown.value ->> 'version'
        where signup_requests.id = ${id} and (consents.is_active = 1 or signup_requests.confirmed_at is not null)
        order by shown.key`,
    ),
  ])
  if (!request || request.address === null || request.expires_at <= job.now() || wordings.length === 0) return null
  if (request.is_archived && request.confirmed_at === null) return null
  return { ...request, address: request.address, wordings }
}

const toEmailAddress = ({ organization_id, address }: ConfirmableRequest) => ({
  organization_id,
  channel: 'email' as const,
  address,
})

/** Builds the page in the requested language, or in the language of the request. */
async function buildConfirmation(
  job: JobCtx,
  request: ConfirmableRequest,
  requestedLanguage: Language | null,
): Promise<ConfirmationContent> {
  const language = requestedLanguage ?? request.language
  const is_confirmed = request.confirmed_at !== null
  const ids = request.wordings.map(({ id }) => id)
  // An address without a confirmation learns nothing about its customer.
  const { user_id } = is_confirmed ? await listAddressAnswers(job, request, ids) : { user_id: null }
  const link = { ...toEmailAddress(request), made_at: job.now() }
  const token = user_id === null ? null : mintPreferencesToken(job.config.linkSigningKey, { ...link, user_id })
  return {
    language,
    organization_name: request.organization_name,
    consents: request.wordings.map((wording) => chooseWording(wording, language, request.language)),
    is_confirmed,
    preferences: token === null ? null : `../../consents/${token}`,
  }
}

export async function loadSignupConfirmation(
  job: JobCtx,
  token: string,
  language: Language | null,
): Promise<ConfirmationContent | null> {
  const request = await findConfirmableRequest(job, token)
  return request && buildConfirmation(job, request, language)
}

/** Builds the statements that create the customer. Suppressions of an erased customer with this address apply again. */
async function buildCustomer(job: JobCtx, request: ConfirmableRequest, userId: string): Promise<Statement[]> {
  const { organization_id, edition_id, address, language } = request
  const now = job.now()
  const contact = { email: address, phone_number: null, first_name: '', last_name: '' }
  const row = {
    id: userId,
    organization_id,
    ...contact,
    ...buildSearchColumns(contact),
    locale: language,
    msg_channel: 'email' as const,
    is_of_organization: edition_id === null,
    created_at: now,
    modified_at: now,
  }
  return [insert(users, row), ...(await restoreSuppressions(organization_id, [{ channel: 'email', address }]))]
}

/** Builds the statements that add the customer to the edition of the form. An edition that knows them keeps what it knows. */
function buildEditionCustomer(job: JobCtx, request: ConfirmableRequest, userId: string): Statement[] {
  const { edition_id, address: email, language: locale } = request
  if (edition_id === null) return []
  const contact = { email, phone_number: null, first_name: '', last_name: '' }
  const row = { edition_id, user_id: userId, created_at: job.now(), locale, ...contact, ...buildSearchColumns(contact) }
  return insertEditionCustomers([row]).map((statement) => sql`${statement} on conflict do nothing`)
}

const isEmailMarketing = ({ definition }: PersonAnswer): boolean =>
  definition.type === 'marketing' && definition.channels.includes('email')

/** Decides what the confirmation changes. A consent that is given already stays as it is, unless nothing reaches the address. */
async function decideAnswers(
  job: JobCtx,
  request: ConfirmableRequest,
  person: Parameters<typeof decidePersonAnswer>[1],
  { answers, visit }: { answers: readonly PersonAnswer[]; visit: Visit },
) {
  const isBlocked = (await findSuppressionReason(job, person)) === 'unsubscribed'
  const decisions = await Promise.all(
    request.wordings.flatMap((wording) => {
      const answer = answers.find(({ definition }) => definition.id === wording.id)
      if (!answer) return []
      const definition = { ...answer.definition, wording_version: wording.version, content_hash: wording.content_hash }
      const { language } = chooseWording(wording, request.language, request.language)
      return [
        decidePersonAnswer(
          job,
          person,
          { ...answer, definition },
          {
            status: 'given',
            at: job.now(),
            asks_again: isBlocked && isEmailMarketing(answer),
            method: 'double_opt_in',
            source: signupSource(request.form_id),
            language,
            edition_id: request.edition_id,
            evidence: { ...visit.evidence, requested_at: toIso(request.created_at), request: request.evidence },
          },
        ),
      ]
    }),
  )
  return decisions.filter(({ decision }) => decision.kind === 'changed')
}

async function tryConfirm(job: JobCtx, token: string, visit: Visit): Promise<void> {
  const request = await findConfirmableRequest(job, token)
  if (!request || request.confirmed_at !== null) return
  const ids = request.wordings.map(({ id }) => id)
  const { user_id, answers } = await listAddressAnswers(job, request, ids)
  const id = user_id ?? job.newId('user')
  const person = {
    ...toEmailAddress(request),
    id,
    organization_name: request.organization_name,
    locale: request.language,
  }
  const decisions = await decideAnswers(job, request, person, { answers, visit })
  const now = job.now()
  const preparation = [
    update(
      signupRequests,
      { confirmed_at: now },
      sql`id = ${request.id} and confirmed_at is null and expires_at > ${now}`,
    ),
    requireOneChange(),
    ...(user_id === null ? await buildCustomer(job, request, id) : []),
    ...buildEditionCustomer(job, request, id),
  ]
  await commitAnswers(job, { person, visit, preparation }, answers, decisions)
}

/** Gives the consents of a request, to the wordings that the visitor saw. A second call changes nothing. */
export async function confirmSignup(
  job: JobCtx,
  token: string,
  { language, visit }: { language: Language | null; visit: Visit },
): Promise<ConfirmationContent | null> {
  await retryLostRaces(() => tryConfirm(job, token, visit))
  return loadSignupConfirmation(job, token, language)
}
