import { getTableColumns, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { consentRecords } from '../../../db/schema/consents.ts'
import { insertAll } from '../../../db/write.ts'
import { evidenceHash, hashVersion, recordHash } from '../../../domain/consents/consent-records.ts'
import {
  answerEnd,
  type AnswerDecision,
  type AnswerMethod,
  type AnswerRules,
  type AnswerStatus,
  decideAnswer,
  isSettled,
  type SettledStatus,
} from '../../../domain/consents/consents.ts'
import { LostRace } from '../../../domain/errors.ts'
import type { Language } from '../../../domain/languages.ts'
import { isList, readJson } from '../../../domain/text/json.ts'
import { toIso, toIsoOrNull } from '../../../domain/time/instants.ts'
import type { Announcement } from '../../webhooks/index.ts'

export type RecordRow = typeof consentRecords.$inferSelect

export const recordColumns = Object.keys(getTableColumns(consentRecords))

/** Reads rows whose values `json_array` has in the order of these names. */
export const rowOfArray =
  <Row>(names: readonly string[]) =>
  (text: string): Row => {
    const values = readJson(text, isList)
    return Object.fromEntries(names.map((name, index) => [name, values[index]])) as Row
  }

/** A definition, as far as answers to it need it. `wording_version` and `content_hash` are of the wording that was shown. */
export interface AnsweredDefinition extends AnswerRules {
  id: string
  organization_id: string
  edition_id: string | null
  key: string
  content_hash: string
  expires_after_days: number | null
}

/** The person who answers. The answer's event contains this `email`. */
export interface AnsweringUser {
  id: string
  email: string | null
}

export interface AskedAnswer {
  status: Exclude<AnswerStatus, 'expired'>
  /** Milliseconds UTC. */
  at: number
  method: AnswerMethod
  source: string
  language: Language
  /** The edition in which the consent was offered, for a definition of the whole organisation. */
  edition_id?: string | null
  order_id?: string | null
  import_id?: string | null
  evidence?: Readonly<Record<string, unknown>> | null
  /** Replaces the end that the definition sets. */
  expires_at?: number | null
}

/** A person, a definition, and the latest record of the two. */
interface AnsweredSubject {
  definition: AnsweredDefinition
  user: AnsweringUser
  before: RecordRow | null
}

/** A decided answer: the records that it adds, in their order, after the latest one. */
export interface DecidedAnswer extends AnsweredSubject {
  decision: AnswerDecision
  records: readonly RecordRow[]
}

type RecordContent = Omit<
  RecordRow,
  'id' | 'number' | 'previous_status' | 'previous_record_id' | 'record_hash' | 'hash_version' | 'is_latest'
>

/** The consent in `before` has come to its end. */
const expiryOf = (before: RecordRow): RecordContent => ({
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

/** The wording that is answered. A withdrawal is about the wording that was agreed to. */
const wordingOf = (definition: AnsweredDefinition, asked: AskedAnswer, before: RecordRow | null) =>
  asked.status === 'withdrawn' && before
    ? { consent_version: before.consent_version, content_hash: before.content_hash }
    : { consent_version: definition.wording_version, content_hash: definition.content_hash }

function contentOf({ definition, user, before }: AnsweredSubject, asked: AskedAnswer): RecordContent {
  const { status, at, method, source, language, evidence } = asked
  return {
    organization_id: definition.organization_id,
    consent_id: definition.id,
    user_id: user.id,
    ...wordingOf(definition, asked, before),
    edition_id: definition.edition_id ?? asked.edition_id ?? null,
    order_id: asked.order_id ?? null,
    import_id: asked.import_id ?? null,
    status,
    method,
    source,
    language,
    occurred_at: at,
    expires_at:
      asked.expires_at === undefined ? answerEnd(status, at, definition.expires_after_days) : asked.expires_at,
    evidence: evidence ? JSON.stringify(evidence) : null,
    evidence_hash: null,
  }
}

const settledBefore = ({ status, previous_status }: RecordRow): SettledStatus | null =>
  isSettled(status) ? status : previous_status

/** The next record of a chain. */
async function chained(
  ctx: Pick<JobCtx, 'newId'>,
  before: RecordRow | null,
  content: RecordContent,
): Promise<RecordRow> {
  const id = ctx.newId('consent_record')
  const row = {
    ...content,
    id,
    number: (before?.number ?? 0) + 1,
    previous_status: before && settledBefore(before),
    previous_record_id: before?.id ?? null,
    evidence_hash: content.evidence === null ? null : await evidenceHash(id, content.evidence),
    hash_version: hashVersion,
    is_latest: 1,
  }
  return { ...row, record_hash: await recordHash(row, before?.record_hash ?? null) }
}

/** Decides on one answer, given the latest record of the person and definition. */
export async function answered(
  ctx: Pick<JobCtx, 'newId'>,
  subject: AnsweredSubject,
  asked: AskedAnswer,
): Promise<DecidedAnswer> {
  const { definition, before } = subject
  const decision = decideAnswer(asked, before, definition)
  const records: RecordRow[] = []
  for (const status of decision.kind === 'changed' ? decision.statuses : []) {
    const last = records.at(-1) ?? before
    const content = status === 'expired' && last ? expiryOf(last) : contentOf(subject, asked)
    records.push(await chained(ctx, last, content))
  }
  return { ...subject, decision, records }
}

/** The record of a consent that has expired. */
export const expiryRecord = (ctx: Pick<JobCtx, 'newId'>, before: RecordRow): Promise<RecordRow> =>
  chained(ctx, before, expiryOf(before))

/** The record that ends an unconfirmed request. */
export const closingRecord = (
  ctx: Pick<JobCtx, 'newId'>,
  before: RecordRow,
  status: SettledStatus,
): Promise<RecordRow> =>
  chained(ctx, before, { ...expiryOf(before), status, source: 'confirmation_lapsed', expires_at: null })

/** The latest record after an answer. */
export const latestOf = ({ before, records }: Pick<DecidedAnswer, 'before' | 'records'>): RecordRow | null =>
  records.at(-1) ?? before

const notLatest = (replaced: readonly RecordRow[]): Statement[] => {
  const keys = replaced.map(({ user_id, consent_id, number }) => [user_id, consent_id, number])
  if (keys.length === 0) return []
  const [only] = replaced
  const isReplaced =
    keys.length === 1 && only
      ? sql`user_id = ${only.user_id} and consent_id = ${only.consent_id} and number = ${only.number}`
      : sql`(user_id, consent_id, number) in (select value ->> 0, value ->> 1, value ->> 2
          from json_each(${JSON.stringify(keys)}))`
  return [
    sql`update consent_records set is_latest = 0 where ${isReplaced} and is_latest = 1`,
    requireChanges(keys.length),
  ]
}

/**
 * Statements that write these answers. There are few of them however many answers there are. The transaction fails when
 * another answer to one of the consents was recorded meanwhile: give `answerRaces` to `commit`, and decide again.
 */
export function answerStatements(answers: readonly Pick<DecidedAnswer, 'before' | 'records'>[]): Statement[] {
  const changed = answers.filter(({ records }) => records.length > 0)
  const added = changed.flatMap(({ records }) =>
    records.map((record, index) => ({ ...record, is_latest: index === records.length - 1 ? 1 : 0 })),
  )
  return [...notLatest(changed.flatMap(({ before }) => before ?? [])), ...insertAll(consentRecords, added)]
}

const lostRace = () => new LostRace('another answer was recorded meanwhile')

export const answerRaces: Readonly<Record<string, () => Error>> = {
  'consent_records.user_id, consent_records.consent_id, consent_records.number': lostRace,
  'consent_records.user_id, consent_records.consent_id': lostRace,
}

const kindOf = {
  given: 'consent.given',
  skipped: 'consent.skipped',
  withdrawn: 'consent.withdrawn',
  expired: 'consent.expired',
} as const satisfies Record<SettledStatus, Announcement['kind']>

/** The events of an answer; a pending one has none. */
export const answerAnnouncements = ({
  definition,
  user,
  records,
}: Pick<DecidedAnswer, 'records' | 'user'> & { definition: { key: string } }): Announcement[] =>
  records.flatMap((record): Announcement[] => {
    const { status } = record
    if (!isSettled(status)) return []
    return [
      {
        kind: kindOf[status],
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
