import { findChainFault, hashWording, type StoredRecord } from '../../src/domain/consents/consent-records.ts'
import type { LegalBasis } from '../../src/domain/consents/consents.ts'
import type { TranslatedDict } from '../../src/domain/languages.ts'

type Query = <Row>(sql: string) => Promise<Row[]>

interface Version {
  consent_id: string
  version: number
  title: string
  text: string
  link_url: string
  legal_basis: LegalBasis
  content_hash: string
}

export interface Verdict {
  records: number
  chains: number
  /** The first record or wording with a wrong hash; null when all are correct. */
  fault: string | null
}

interface MergedRecord extends StoredRecord {
  /** 1 if the customer was merged into another one. */
  is_merged: number
}

const recordsAPage = 5000
const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`

const texts = (json: string) => JSON.parse(json) as TranslatedDict

/** Hashes all wordings, by definition and version. `fault` names a wording whose stored hash is wrong. */
async function hashWordings(query: Query): Promise<{ hashes: Map<string, string>; fault: string | null }> {
  const hashes = new Map<string, string>()
  for (const row of await query<Version>('select * from consent_versions order by consent_id, version')) {
    const { consent_id, version, title, text, link_url, legal_basis, content_hash } = row
    const wording = { title: texts(title), text: texts(text), link_url: texts(link_url), legal_basis }
    if ((await hashWording(wording)) !== content_hash)
      return { hashes, fault: `Wording ${version} of ${consent_id} does not have its hash.` }
    hashes.set(`${consent_id} ${version}`, content_hash)
  }
  return { hashes, fault: null }
}

async function findFault(chain: readonly MergedRecord[], hashes: ReadonlyMap<string, string>): Promise<string | null> {
  const chainFault = await findChainFault(chain, chain[0]?.is_merged === 1)
  const about = ({ id, user_id, consent_id, number }: StoredRecord, what: string) =>
    `Record ${id} (${number} of ${user_id} to ${consent_id}) does not fit: ${what}.`
  if (chainFault) return about(chainFault.record, chainFault.fault)
  for (const record of chain)
    if (hashes.get(`${record.consent_id} ${record.consent_version}`) !== record.content_hash)
      return about(record, 'it names another wording than its version has')
  return null
}

/** Verifies all records, chain by chain. */
export async function verifyConsents(query: Query): Promise<Verdict> {
  const { hashes, fault } = await hashWordings(query)
  const verdict: Verdict = { records: 0, chains: 0, fault }
  let open: MergedRecord[] = []
  const close = async () => {
    if (open.length === 0) return
    verdict.chains++
    verdict.fault ??= await findFault(open, hashes)
    open = []
  }
  while (verdict.fault === null) {
    const last = open.at(-1)
    const after = last
      ? `where (user_id, consent_id, number) > (${quote(last.user_id)}, ${quote(last.consent_id)}, ${last.number})`
      : ''
    const page = await query<MergedRecord>(
      `select *, exists (select 1 from user_merges where user_merges.id = user_id) as is_merged from consent_records ${after} order by user_id, consent_id, number limit ${recordsAPage}`,
    )
    for (const record of page) {
      const before = open.at(-1)
      if (before && (before.user_id !== record.user_id || before.consent_id !== record.consent_id)) await close()
      open.push(record)
    }
    verdict.records += page.length
    if (page.length < recordsAPage) {
      await close()
      break
    }
  }
  return verdict
}
