import { getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { consentRecords } from '../../../db/schema/consents.ts'
import { insertAll } from '../../../db/write.ts'
import { hashEvidence, hashVersion, hashRecord } from '../../../domain/consents/consent-records.ts'
import {
  computeAnswerEnd,
  type AnswerDecision,
  type AnswerMethod,
  type AnswerRules,
  type AnswerStatus,
  decideAnswer,
  isEffective,
  type EffectiveStatus,
} from '../../../domain/consents/consents.ts'
import { LostRace } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import { isList, readJson } from '../../../domain/text/json.ts'
import { toIso, toIsoOrNull } from '../../../domain/time/instants.ts'
import type { Announcement } from '../../webhooks/index.ts'

export type RecordRow = typeof consentRecords.$inferSelect

export const recordColumns = Object.keys(getTableColumns(consentRecords))

/** Creates a reader of a `json_array` that has a row's values in the order of these names. */
export const createRowReader =
  <Row>(names: readonly string[]) =>
  (text: string): Row => {
    const values = readJson(text, isList)
    return Object.fromEntries(names.map((name, index) => [name, values[index]])) as Row
  }

/**
 * The part of a definition that answers need. `wording_version` and `content_hash` belong to the wording that was
 * shown.
 */
export interface AnsweredDefinition extends AnswerRules {
  id: string
  organization_id: string
  edition_id: string | null
  key: string
  content_hash: string
  expires_after_days: number | null
}

/** The person who answers. Events contain this `email`. */
export interface AnsweringUser {
  id: string
  email: string | null
}

export interface AnswerRequest {
  status: Exclude<AnswerStatus, 'expired'>
  /** When the person answered, in milliseconds UTC. */
  at: number
  /** True if a consent that is given is asked for again, because it has no effect. */
  asks_again?: boolean
  method: AnswerMethod
  source: string
  language: Language
  /** The edition in which the consent was offered, for a definition of the whole organisation. */
  edition_id?: string | null
  order_id?: string | null
  import_id?: string | null
  evidence?: Readonly<Record<string, unknown>> | null
  /** Overrides the expiry that follows from the definition. */
  expires_at?: number | null
}

/** A person, a definition, and the person's latest record of it. */
interface AnsweredSubject {
  definition: AnsweredDefinition
  user: AnsweringUser
  before: RecordRow | null
}

/** The decision on an answer and the records that it adds, in their order. */
export interface DecidedAnswer extends AnsweredSubject {
  decision: AnswerDecision
  records: readonly RecordRow[]
}

type RecordContent = Omit<
  RecordRow,
  'id' | 'number' | 'previous_status' | 'previous_record_id' | 'record_hash' | 'hash_version' | 'is_latest'
>

/** Describes the end of the consent in `before`. */
const describeExpiry = (before: RecordRow): RecordContent => ({
  ...before,
  status: 'expired',
  method: 'expiry',
  source: 'expiry',
  order_id: null,
  import_id: null,
  occurred_at: before.expires_at ?? before.occurred_at,
  evidence: null,
  evidence_hash: null,
})

/** A withdrawal refers to the wording that the person agreed to. */
const chooseWording = (definition: AnsweredDefinition, request: AnswerRequest, before: RecordRow | null) =>
  request.status === 'withdrawn' && before
    ? { consent_version: before.consent_version, content_hash: before.content_hash }
    : { consent_version: definition.wording_version, content_hash: definition.content_hash }

function describeAnswer({ definition, user, before }: AnsweredSubject, request: AnswerRequest): RecordContent {
  const { status, at, method, source, language, evidence } = request
  return {
    organization_id: definition.organization_id,
    consent_id: definition.id,
    user_id: user.id,
    ...chooseWording(definition, request, before),
    edition_id: definition.edition_id ?? request.edition_id ?? null,
    order_id: request.order_id ?? null,
    import_id: request.import_id ?? null,
    status,
    method,
    source,
    language,
    occurred_at: at,
    expires_at:
      request.expires_at === undefined
        ? computeAnswerEnd(status, at, definition.expires_after_days)
        : request.expires_at,
    evidence: evidence ? JSON.stringify(evidence) : null,
    evidence_hash: null,
  }
}

export const getEffectiveStatus = ({ status, previous_status }: RecordRow): EffectiveStatus | null =>
  isEffective(status) ? status : previous_status

/** Builds the next record of a chain. */
export async function appendRecord(
  ctx: Pick<JobCtx, 'newId'>,
  before: RecordRow | null,
  content: RecordContent,
): Promise<RecordRow> {
  const id = ctx.newId('consent_record')
  const row = {
    ...content,
    id,
    number: (before?.number ?? 0) + 1,
    previous_status: before && getEffectiveStatus(before),
    previous_record_id: before?.id ?? null,
    evidence_hash: content.evidence === null ? null : await hashEvidence(id, content.evidence),
    hash_version: hashVersion,
    is_latest: 1,
  }
  return { ...row, record_hash: await hashRecord(row, before?.record_hash ?? null) }
}

/** Decides on an answer and builds the records that it adds. */
export async function decideAnswerRecords(
  ctx: Pick<JobCtx, 'newId'>,
  subject: AnsweredSubject,
  request: AnswerRequest,
): Promise<DecidedAnswer> {
  const { definition, before } = subject
  const decision = decideAnswer(request, before, definition)
  const records: RecordRow[] = []
  for (const status of decision.kind === 'changed' ? decision.statuses : []) {
    const last = records.at(-1) ?? before
    const content = status === 'expired' && last ? describeExpiry(last) : describeAnswer(subject, request)
    records.push(await appendRecord(ctx, last, content))
  }
  return { ...subject, decision, records }
}

/** Builds the record of a consent that has expired. */
export const buildExpiryRecord = (ctx: Pick<JobCtx, 'newId'>, before: RecordRow): Promise<RecordRow> =>
  appendRecord(ctx, before, describeExpiry(before))

/** Builds the record that ends an unconfirmed request. */
export const buildClosingRecord = (
  ctx: Pick<JobCtx, 'newId'>,
  before: RecordRow,
  status: EffectiveStatus,
): Promise<RecordRow> =>
  appendRecord(ctx, before, { ...describeExpiry(before), status, source: 'confirmation_lapsed', expires_at: null })

/** Returns the latest record after an answer. */
export const getLatestRecord = ({ before, records }: Pick<DecidedAnswer, 'before' | 'records'>): RecordRow | null =>
  records.at(-1) ?? before

const unmarkLatest = (records: readonly RecordRow[]): Statement[] => {
  const keys = records.map(({ user_id, consent_id, number }) => [user_id, consent_id, number])
  if (keys.length === 0) return []
  const [only] = records
  const isUnmarked =
    keys.length === 1 && only
      ? sql`user_id = ${only.user_id} and consent_id = ${only.consent_id} and number = ${only.number}`
      : sql`(user_id, consent_id, number) in (select value ->> 0, value ->> 1, value ->> 2
          from json_each(${JSON.stringify(keys)}))`
  return [
    sql`update consent_records set is_latest = 0 where ${isUnmarked} and is_latest = 1`,
    requireChanges(keys.length),
  ]
}

/**
 * Builds the statements that store these answers; their number does not grow with the answers. The commit fails when
 * one of the consents was answered meanwhile: pass `answerRaces` to `commit`, and decide again.
 */
export function buildAnswerStatements(answers: readonly Pick<DecidedAnswer, 'before' | 'records'>[]): Statement[] {
  const changedAnswers = answers.filter(({ records }) => records.length > 0)
  const addedRecords = changedAnswers.flatMap(({ records }) =>
    records.map((record, index) => ({ ...record, is_latest: index === records.length - 1 ? 1 : 0 })),
  )
  return [
    ...unmarkLatest(changedAnswers.flatMap(({ before }) => before ?? [])),
    ...insertAll(consentRecords, addedRecords),
  ]
}

const lostRace = () => new LostRace('another answer was recorded meanwhile')

export const answerRaces: Readonly<Record<string, () => Error>> = {
  'consent_records.user_id, consent_records.consent_id, consent_records.number': lostRace,
  'consent_records.user_id, consent_records.consent_id': lostRace,
}

const eventKinds = {
  given: 'consent.given',
  skipped: 'consent.skipped',
  withdrawn: 'consent.withdrawn',
  expired: 'consent.expired',
} as const satisfies Record<EffectiveStatus, Announcement['kind']>

/** Builds the events of an answer. A pending answer has none. */
export const buildAnswerAnnouncements = ({
  definition,
  user,
  records,
}: Pick<DecidedAnswer, 'records' | 'user'> & { definition: { key: string } }): Announcement[] =>
  records.flatMap((record): Announcement[] => {
    const { status } = record
    if (!isEffective(status)) return []
    return [
      {
        kind: eventKinds[status],
        organization_id: record.organization_id,
        edition_id: record.edition_id,
        data: {
          consent: { id: record.consent_id, key: definition.key, version: record.consent_version },
          user: { api_id: user.id, email: user.email },
          record_id: record.id,
          status,
          previous_status: record.previous_status,
          occurred_at: toIso(record.occurred_at),
          expires_at: toIsoOrNull(record.expires_at),
          source: record.source,
        },
      },
    ]
  })
