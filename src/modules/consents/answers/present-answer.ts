import type { z } from '@hono/zod-openapi'
import type { Ctx } from '../../../context.ts'
import {
  listAnswerActions,
  isCurrentAnswer,
  chooseLanguage,
  getAnswerState,
} from '../../../domain/consents/consents.ts'
import type { TranslatedDict } from '../../../domain/languages.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import { toIso, toIsoOrNull } from '../../../domain/time/instants.ts'
import { presentEmailState } from '../../transactional-emails/index.ts'
import type { ConsentProof, ConsentRecord, UserConsent } from '../answer-contract.ts'
import type { AnswerRow, VisibleRecord } from './answer-queries.ts'
import type { Proof } from './proof.ts'
import type { RecordRow } from './records.ts'

export function presentRecord(row: VisibleRecord): z.input<typeof ConsentRecord> {
  const hide = <Value>(value: Value): Value | null => (row.is_hidden ? null : value)
  return {
    id: row.id,
    consent_id: row.consent_id,
    user_id: row.user_id,
    number: row.number,
    status: row.status,
    consent_version: row.consent_version,
    content_hash: row.content_hash,
    language: hide(row.language),
    method: row.method,
    source: hide(row.source),
    edition_id: hide(row.edition_id),
    order_id: hide(row.order_id),
    import_id: hide(row.import_id),
    evidence: row.evidence === null ? null : hide(readJson(row.evidence, isRecord)),
    occurred_at: toIso(row.occurred_at),
    expires_at: toIsoOrNull(row.expires_at),
    previous_record_id: row.previous_record_id,
    previous_hash: row.previous_hash,
    record_hash: row.record_hash,
  }
}

export function presentAnswer(row: AnswerRow, ctx: Ctx): z.input<typeof UserConsent> {
  const { record, blocked_by, confirmation_email } = row
  const now = ctx.now()
  const is_current = isCurrentAnswer(record, row, now)
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
    status: getAnswerState(record, now),
    is_current,
    effective: is_current && blocked_by === null,
    blocked_by,
    allowed_actions: listAnswerActions(record, row, now),
    record: record && presentRecord(record),
    confirmation_email: confirmation_email && presentEmailState(confirmation_email, ctx),
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
  merged_chains,
}: Proof): z.input<typeof ConsentProof> {
  const fallback = default_language ?? 'en'
  const language = chooseLanguage(version.text, record.is_hidden ? fallback : record.language, fallback)
  const getText = (texts: TranslatedDict) => texts[language] ?? ''
  return {
    record: presentRecord(record),
    wording: {
      version: version.version,
      language,
      title: getText(version.title),
      text: getText(version.text),
      link_url: getText(version.link_url),
      legal_basis: version.legal_basis,
      content_hash: version.content_hash,
      created: toIso(version.created_at),
    },
    chain: chain.map(presentLink),
    is_intact,
    merged_chains: merged_chains.map((merged) => ({
      user_id: merged.user_id,
      chain: merged.chain.map(presentLink),
      is_intact: merged.is_intact,
    })),
  }
}
