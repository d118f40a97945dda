import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import { allowedActions, isCurrentAnswer, shownLanguage, stateOf } from '../../../domain/consents/consents.ts'
import type { TranslatedDict } from '../../../domain/languages.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import { toIso, toIsoOrNull } from '../../../domain/time/instants.ts'
import type { ConsentProof, ConsentRecord, UserConsent } from '../answer-contract.ts'
import type { AnswerRow, SeenRecord } from './answer-queries.ts'
import type { Proof } from './proof.ts'
import type { RecordRow } from './records.ts'

export function presentRecord(row: SeenRecord): z.input<typeof ConsentRecord> {
  const shown = <Value>(value: Value): Value | null => (row.is_hidden ? null : value)
  return {
    id: row.id,
    consent_id: row.consent_id,
    user_id: row.user_id,
    number: row.number,
    status: row.status,
    consent_version: row.consent_version,
    content_hash: row.content_hash,
    language: shown(row.language),
    method: row.method,
    source: shown(row.source),
    edition_id: shown(row.edition_id),
    order_id: shown(row.order_id),
    import_id: shown(row.import_id),
    evidence: row.evidence === null ? null : shown(readJson(row.evidence, isRecord)),
    occurred_at: toIso(row.occurred_at),
    expires_at: toIsoOrNull(row.expires_at),
    previous_record_id: row.previous_record_id,
    previous_hash: row.previous_hash,
    record_hash: row.record_hash,
  }
}

export function presentAnswer(row: AnswerRow, ctx: Ctx): z.input<typeof UserConsent> {
  const { record } = row
  const now = ctx.now()
  return {
    id: row.id,
    user_id: row.user_id,
    edition_id: row.edition_id,
    key: row.key,
    name: row.name,
    type: row.type,
    channels: row.channels,
    is_required: row.is_required,
    is_active: row.is_active,
    position: row.position,
    version: row.wording_version,
    content_hash: row.content_hash,
    status: stateOf(record, now),
    is_current: isCurrentAnswer(record, row, now),
    allowed_actions: allowedActions(record, row, now),
    record: record && presentRecord(record),
  }
}

const presentLink = (row: RecordRow) => ({
  record_id: row.id,
  number: row.number,
  status: row.status,
  consent_version: row.consent_version,
  content_hash: row.content_hash,
  occurred_at: toIso(row.occurred_at),
  record_hash: row.record_hash,
})

export function presentProof({
  record,
  version,
  default_language,
  chain,
  is_intact,
}: Proof): z.input<typeof ConsentProof> {
  const fallback = default_language ?? 'en'
  const language = shownLanguage(version.text, record.is_hidden ? fallback : record.language, fallback)
  const inLanguage = (texts: TranslatedDict) => texts[language] ?? ''
  return {
    record: presentRecord(record),
    wording: {
      version: version.version,
      language,
      title: inLanguage(version.title),
      text: inLanguage(version.text),
      link_url: inLanguage(version.link_url),
      legal_basis: version.legal_basis,
      content_hash: version.content_hash,
      created: toIso(version.created_at),
    },
    chain: chain.map(presentLink),
    is_intact,
  }
}
