import { z } from '@hono/zod-openapi'
import { managers, roleCodes } from '../../domain/accounts/access.ts'
import {
  answerActions,
  answerMethods,
  answerStates,
  answerStatuses,
  consentTypes,
  legalBases,
  maxEvidenceBytes,
  maxAnswerSourceLength,
} from '../../domain/consents/consents.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import { suppressionReasons } from '../../domain/messaging/suppressions.ts'
import { utf8 } from '../../domain/text/encoding.ts'
import { Id, IdParams, Instant, LanguageCode, LanguageInput, orNull, Timestamp } from '../../http/fields.ts'
import { operation } from '../../http/operations/operation.ts'
import { type ListRequest, ListPage, IdFilter, listQuery } from '../../http/requests/list-query.ts'
import { emailStateFields } from '../transactional-emails/index.ts'

const hiddenNote = 'Also null when you only have a role in an edition and the answer was given in another edition.'
const Hash = z.string().openapi({ description: 'A SHA-256 in hexadecimal.' })

const Evidence = z.record(z.string(), z.unknown()).openapi({ example: { form: 'checkout-3', box: 'newsletter' } })

export const ConsentRecord = z
  .object({
    id: Id('cre'),
    consent_id: Id('con'),
    user_id: Id('usr'),
    number: z.int().openapi({ description: 'Numbers the answers of one person to one consent, from 1.' }),
    status: z.enum(answerStatuses),
    consent_version: z.int().openapi({ description: 'The version of the wording that the person saw.' }),
    content_hash: Hash.openapi({ description: 'The SHA-256 of the wording that the person saw.' }),
    language: z
      .string()
      .nullable()
      .openapi({ description: `The language in which the person was asked. ${hiddenNote}`, example: 'da' }),
    method: z.enum(answerMethods),
    source: z
      .string()
      .nullable()
      .openapi({ description: `Where the person answered. ${hiddenNote}`, example: 'checkout' }),
    edition_id: Id('edt')
      .nullable()
      .openapi({ description: `The edition in which the person answered. Null when there was none. ${hiddenNote}` }),
    order_id: Id('ord')
      .nullable()
      .openapi({ description: `The order with which the person answered. Null when there was none. ${hiddenNote}` }),
    import_id: Id('imp')
      .nullable()
      .openapi({
        description: `The data import that recorded the answer. Null when it was not imported. ${hiddenNote}`,
      }),
    evidence: orNull(Evidence).openapi({
      description: `What proves the answer. Null when nothing was recorded. ${hiddenNote}`,
    }),
    occurred_at: Timestamp,
    expires_at: Timestamp.nullable().openapi({
      description:
        'When the consent expires, or the last time at which a pending answer can be confirmed. Null when it does not expire.',
    }),
    previous_record_id: Id('cre')
      .nullable()
      .openapi({ description: 'The record before this one. Null for the first record.' }),
    previous_hash: Hash.nullable().openapi({
      description: 'The `record_hash` of the record before this one. Null for the first record.',
    }),
    record_hash: Hash.openapi({ description: 'The SHA-256 of this record together with `previous_hash`.' }),
  })
  .openapi('ConsentRecord')

const ConfirmationEmail = z.object(emailStateFields).openapi('ConfirmationEmail')

export const UserConsent = z
  .object({
    id: Id('con'),
    user_id: Id('usr'),
    edition_id: Id('edt').nullable().openapi({ description: 'Null for a consent of the whole organisation.' }),
    key: z.string().openapi({ example: 'newsletter' }),
    name: z.string(),
    type: z.enum(consentTypes),
    channels: z.array(z.enum(channels)),
    is_required: z.boolean(),
    is_active: z.boolean(),
    position: z.int(),
    version: z.int().openapi({ description: 'The version of the current wording.' }),
    content_hash: Hash.openapi({ description: 'The SHA-256 of the current wording.' }),
    status: z.enum(answerStates).openapi({
      description:
        'The current status of the answer. `pending`: the person has not confirmed it yet. `expired`: the consent has ended.',
    }),
    is_current: z.boolean().openapi({
      description:
        'Whether the person agrees now: the consent was given, has not expired, and is not invalid because the wording changed.',
    }),
    effective: z.boolean().openapi({
      description: 'Whether messages that rest on the consent can be sent: it is current, and `blocked_by` is null.',
    }),
    blocked_by: z.enum(suppressionReasons).nullable().openapi({
      description:
        'Why no message of a marketing consent is sent: the addresses of the customer in all its channels are suppressed. With `unsubscribed` the customer can come back by confirming an e-mail, which `giveConsent` sends. Null otherwise.',
    }),
    allowed_actions: z
      .array(z.enum(answerActions))
      .openapi({ description: 'The actions that would change the answer.' }),
    record: orNull(ConsentRecord).openapi({ description: 'The latest answer. Null before the first.' }),
    confirmation_email: orNull(ConfirmationEmail).openapi({
      description: `The latest e-mail that asked the customer to confirm \`record\`. Null when none did. ${hiddenNote}`,
    }),
  })
  .openapi('UserConsent')

const Language = LanguageInput.openapi({ description: 'The language in which the person was asked.', example: 'da' })

const AnswerBody = z.object({
  language: Language,
  method: z.enum(['checkbox', 'preference_center', 'admin', 'api']),
  source: z
    .string()
    .max(maxAnswerSourceLength)
    .regex(/^[\w.:/-]+$/, '`source` has letters, digits and the characters . : / _ -')
    .openapi({ description: 'Where the person answered.', example: 'checkout' }),
  order_id: Id('ord').nullable().optional().openapi({ description: 'The order with which the person answered.' }),
  occurred_at: Instant.optional().openapi({ description: 'When the person answered. Defaults to now.' }),
  evidence: Evidence.refine((value) => utf8(JSON.stringify(value)).length <= maxEvidenceBytes, {
    params: { code: 'max_length' },
    message: `\`evidence\` has at most ${maxEvidenceBytes} bytes of JSON.`,
  })
    .nullable()
    .optional()
    .openapi({ description: 'What proves the answer. It is deleted when the person is erased.' }),
})

const GiveBody = AnswerBody.extend({
  method: z.enum(['checkbox', 'preference_center', 'admin', 'api', 'double_opt_in']).openapi({
    description:
      'With `double_opt_in` the person gets an e-mail, and the consent counts once they confirm it within 7 days.',
  }),
})

export type AnswerInput = z.output<typeof GiveBody>

const ProofLink = z.object({
  record_id: Id('cre'),
  number: z.int(),
  status: z.enum(answerStatuses),
  consent_version: z.int(),
  content_hash: Hash,
  occurred_at: Timestamp,
  record_hash: Hash,
})

export const ConsentProof = z
  .object({
    record: ConsentRecord,
    wording: z.object({
      version: z.int(),
      language: LanguageCode.openapi({ description: 'The language in which the person saw the wording.' }),
      title: z.string(),
      text: z.string(),
      link_url: z.string(),
      legal_basis: z.enum(legalBases),
      content_hash: Hash,
      created: Timestamp,
    }),
    chain: z.array(ProofLink).openapi({ description: 'The newest 100 records, newest first.' }),
    is_intact: z
      .boolean()
      .openapi({ description: 'Whether the hashes of the wording and of all records in `chain` are correct.' }),
    merged_chains: z
      .array(z.object({ user_id: Id('usr'), chain: z.array(ProofLink), is_intact: z.boolean() }))
      .openapi({
        description:
          'The chains of customers who were merged into this one, the last 20 of them. Their records have the id of that customer, which their hashes cover. `chain` repeats the answers of them that count.',
      }),
  })
  .openapi('ConsentProof')

const tag = 'Consents' as const
const path = '/v1/user/{id}/consents'
const onePath = `${path}/{consent_id}`
const params = IdParams('usr').extend({
  consent_id: z
    .string()
    .openapi({ param: { name: 'consent_id', in: 'path' }, example: 'con_01KAJ3Z8Q2M4T6V8X0Z2B4D6F8' }),
})
const example = { language: 'da', method: 'admin', source: 'support' }

export const listUserConsents = operation({
  id: 'listUserConsents',
  tag,
  method: 'get',
  path,
  summary: 'List consents of a user',
  description: `Lists the consents that the customer can be asked for or has answered: those of the organisation, and
those of editions that know the customer. With \`edition_id\` it lists the consents that count in that edition.`,
  roles: roleCodes,
  params: IdParams('usr'),
  query: listQuery({
    ordering: ['position', 'name'],
    filters: { edition_id: IdFilter.optional(), type: z.enum(consentTypes).optional() },
  }),
  response: ListPage(UserConsent),
})

export type AnswerQuery = ListRequest<typeof listUserConsents.query>

export const listConsentRecords = operation({
  id: 'listConsentRecords',
  tag,
  method: 'get',
  path: `${onePath}/records`,
  summary: "List a user's answers to a consent",
  description: 'Lists all answers, newest first. Each record has the hash of the record before it.',
  roles: roleCodes,
  params,
  query: listQuery({ ordering: ['number'], filters: {} }),
  response: ListPage(ConsentRecord),
})

export type RecordQuery = ListRequest<typeof listConsentRecords.query>

export const getConsentProof = operation({
  id: 'getConsentProof',
  tag,
  method: 'get',
  path: `${onePath}/proof`,
  summary: "Prove a user's answer to a consent",
  description:
    'Returns the latest record, the wording that the person saw, and the chain of hashes. It is 404 before the first answer.',
  roles: roleCodes,
  params,
  response: ConsentProof,
})

export const giveConsent = operation({
  id: 'giveConsent',
  tag,
  method: 'post',
  path: `${onePath}/give`,
  summary: 'Give a consent',
  description: `Giving a consent that is already given changes nothing. With a role in an edition you cannot answer
consents of the organisation for a customer whom other editions know: 403 \`shared_customer\`. With the method
\`double_opt_in\` the customer gets an e-mail with a link, and the answer is \`pending\` until they confirm it. While
it is pending, another request sends the e-mail again after an hour at the earliest. An answer that reaches nobody, because
the address is suppressed, is recorded with \`effective: false\` and \`blocked_by\`. An address that unsubscribed gets
such an e-mail once in 30 days, with the methods \`double_opt_in\`, \`checkbox\` and \`preference_center\`, and
confirming it ends the suppression; other suppressed addresses get none.`,
  agentAccess: 'confirm',
  roles: managers,
  params,
  body: GiveBody,
  example,
  response: UserConsent,
  errors: [
    'address_suppressed',
    'consent_inactive',
    'edition_archived',
    'email_missing',
    'invalid_transition',
    'shared_customer',
    'user_erased',
  ],
})

export const skipConsent = operation({
  id: 'skipConsent',
  tag,
  method: 'post',
  path: `${onePath}/skip`,
  summary: 'Skip a consent',
  description:
    'Records that the person was asked and did not agree. A required consent cannot be skipped: 409 `consent_required`.',
  agentAccess: 'confirm',
  roles: managers,
  params,
  body: AnswerBody,
  example,
  response: UserConsent,
  errors: [
    'consent_inactive',
    'consent_required',
    'edition_archived',
    'invalid_transition',
    'shared_customer',
    'user_erased',
  ],
})

export const withdrawConsent = operation({
  id: 'withdrawConsent',
  tag,
  method: 'post',
  path: `${onePath}/withdraw`,
  summary: 'Withdraw a consent',
  description: 'You can withdraw a consent at any time, even when it is inactive or its edition is archived.',
  agentAccess: 'confirm',
  roles: managers,
  params,
  body: AnswerBody,
  example,
  response: UserConsent,
  errors: ['invalid_transition', 'shared_customer', 'user_erased'],
})
