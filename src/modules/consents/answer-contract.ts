import { z } from '@hono/zod-openapi'
import type { RoleCode } from '../../domain/accounts/access.ts'
import {
  answerActions,
  answerMethods,
  answerStates,
  answerStatuses,
  consentTypes,
  legalBases,
  maxEvidenceBytes,
  maxSourceLength,
} from '../../domain/consents/consents.ts'
import { utf8 } from '../../domain/text/encoding.ts'
import { channels } from '../../domain/messaging/messaging.ts'
import { Id, IdParams, Instant, LanguageCode, orNull, Timestamp } from '../../http/fields.ts'
import { type ListRequest, ListPage, IdFilter, listQuery } from '../../http/requests/list-query.ts'
import { operation } from '../../http/operations/operation.ts'

const hidden = 'Null too where the caller has a role of an edition alone, and the answer is not of that edition.'
const Hash = z.string().openapi({ description: 'SHA-256 in hexadecimal.' })

const Evidence = z.record(z.string(), z.unknown()).openapi({ example: { form: 'checkout-3', box: 'newsletter' } })

export const ConsentRecord = z
  .object({
    id: Id('cre'),
    consent_id: Id('con'),
    user_id: Id('usr'),
    number: z.int().openapi({ description: 'From 1, for each person and consent.' }),
    status: z.enum(answerStatuses),
    consent_version: z.int().openapi({ description: 'Of the wording that was shown.' }),
    content_hash: Hash.openapi({ description: 'Of the wording that was shown.' }),
    language: z.string().nullable().openapi({ description: hidden, example: 'da' }),
    method: z.enum(answerMethods),
    source: z.string().nullable().openapi({ description: hidden, example: 'checkout' }),
    edition_id: Id('edt')
      .nullable()
      .openapi({ description: `Null for an answer of no edition. ${hidden}` }),
    order_id: Id('ord')
      .nullable()
      .openapi({ description: `Null for an answer without an order. ${hidden}` }),
    import_id: Id('imp')
      .nullable()
      .openapi({ description: `Null for an answer that no import brought. ${hidden}` }),
    evidence: orNull(Evidence).openapi({ description: `Null where there is none. ${hidden}` }),
    occurred_at: Timestamp,
    expires_at: Timestamp.nullable().openapi({
      description:
        'Until when it counts, or waits for its confirmation; null for an answer that does not end by itself.',
    }),
    previous_record_id: Id('cre').nullable().openapi({ description: 'Null for the first.' }),
    previous_hash: Hash.nullable().openapi({ description: 'Of the record before; null for the first.' }),
    record_hash: Hash.openapi({ description: 'Of this record and the hash of the one before.' }),
  })
  .openapi('ConsentRecord')

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
    version: z.int().openapi({ description: 'Of the present wording.' }),
    content_hash: Hash.openapi({ description: 'Of the present wording.' }),
    status: z.enum(answerStates).openapi({
      description: 'Now, to the second: `expired` as soon as it is over. `pending` waits for its confirmation.',
    }),
    is_current: z.boolean().openapi({
      description: 'Given, not over, and, where a change of the wording asks anew, given to the present one.',
    }),
    allowed_actions: z.array(z.enum(answerActions)),
    record: orNull(ConsentRecord).openapi({ description: 'The latest answer; null before the first.' }),
  })
  .openapi('UserConsent')

const Language = LanguageCode.openapi({ description: 'In which the person was asked.', example: 'da' })

const AnswerBody = z.object({
  language: Language,
  method: z.enum(['checkbox', 'preference_center', 'admin', 'api']),
  source: z
    .string()
    .max(maxSourceLength)
    .regex(/^[\w.:/-]+$/, 'Letters, digits and . : / _ -')
    .openapi({ description: 'Where the person answered.', example: 'checkout' }),
  order_id: Id('ord').nullable().optional().openapi({ description: 'An order of the person.' }),
  occurred_at: Instant.optional().openapi({ description: 'Now when absent.' }),
  evidence: Evidence.refine((value) => utf8(JSON.stringify(value)).length <= maxEvidenceBytes, {
    params: { code: 'max_length' },
    message: `At most ${maxEvidenceBytes} bytes of JSON.`,
  })
    .nullable()
    .optional()
    .openapi({ description: 'What shows it. Personal data in it goes when the person is erased.' }),
})

const GiveBody = AnswerBody.extend({
  method: z.enum(['checkbox', 'preference_center', 'admin', 'api', 'double_opt_in']).openapi({
    description: '`double_opt_in` asks the person by e-mail: the consent is given once they confirm it, within 7 days.',
  }),
})

/** Only a consent that is given can be confirmed. */
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
      language: LanguageCode.openapi({ description: 'In which it was shown.' }),
      title: z.string(),
      text: z.string(),
      link_url: z.string(),
      legal_basis: z.enum(legalBases),
      content_hash: Hash,
      created: Timestamp,
    }),
    chain: z.array(ProofLink).openapi({ description: 'The newest records, newest first: at most 100.' }),
    is_intact: z.boolean().openapi({ description: 'Whether every record of `chain`, and the wording, has its hash.' }),
  })
  .openapi('ConsentProof')

const tag = 'Consents' as const
const readers: readonly RoleCode[] = ['OA', 'OM', 'OV', 'EA', 'EM', 'EV']
const keepers: readonly RoleCode[] = ['OA', 'OM', 'EA', 'EM']
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
  description: `Every consent that the customer can be asked for, or has answered: those of the organisation and of the editions that know the
customer. With \`edition_id\`, those that count in that edition.`,
  roles: readers,
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
  description: 'The whole history, newest first. Each record has the hash of the one before.',
  roles: readers,
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
    'The latest record, the wording as it was shown in its language, and the chain of hashes. 404 before the first.',
  roles: readers,
  params,
  response: ConsentProof,
})

export const giveConsent = operation({
  id: 'giveConsent',
  tag,
  method: 'post',
  path: `${onePath}/give`,
  summary: 'Give a consent',
  description: `Giving again what is given and current changes nothing. Somebody whom other editions know answers the organisation's
consents through its own roles: 403 \`shared_customer\`. With the method \`double_opt_in\` the answer is \`pending\` until the person confirms it
by the link of a message; asked again while it is pending, another message goes out after an hour at the earliest.`,
  roles: keepers,
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
  description: 'The person was asked and did not agree. One that is required is not skipped: 409 `consent_required`.',
  roles: keepers,
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
  description: 'Possible at any time, also of a consent that is not asked for any more, and in an archived edition.',
  roles: keepers,
  params,
  body: AnswerBody,
  example,
  response: UserConsent,
  errors: ['invalid_transition', 'shared_customer', 'user_erased'],
})
