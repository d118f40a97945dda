import { findChainFault, hashWording, type StoredRecord } from '../../../src/domain/consents/consent-records.ts'
import type { LegalBasis } from '../../../src/domain/consents/consents.ts'
import type { TranslatedDict } from '../../../src/domain/languages.ts'
import { addFaults, createFinding, type Finding, type Query, quote } from './query.ts'

export const consentsTitle = 'Hash chains of consents'

interface Version {
  consent_id: string
  version: number
  title: string
  text: string
  link_url: string
  legal_basis: LegalBasis
  content_hash: string
}

interface MergedRecord extends StoredRecord {
  /** 1 if the customer was merged into another one. */
  is_merged: number
}

const texts = (json: string) => JSON.parse(json) as TranslatedDict

/** Hashes all wordings, by definition and version. Wordings whose stored hash is wrong are faults. */
async function hashWordings(query: Query, finding: Finding): Promise<Map<string, string>> {
  const hashes = new Map<string, string>()
  for (const row of await query<Version>('select * from consent_versions order by consent_id, version')) {
    const { consent_id, version, title, text, link_url, legal_basis, content_hash } = row
    const wording = { title: texts(title), text: texts(text), link_url: texts(link_url), legal_basis }
    if ((await hashWording(wording)) !== content_hash)
      addFaults(finding, [`Wording ${version} of ${consent_id} does not have its hash.`])
    hashes.set(`${consent_id} ${version}`, content_hash)
  }
  return hashes
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

/** Recomputes the hashes of all records, chain by chain, and names the first faulty record of each chain. */
export async function verifyConsents(query: Query, size: number): Promise<Finding> {
  const finding = createFinding(consentsTitle, 'records')
  const hashes = await hashWordings(query, finding)
  let chain: MergedRecord[] = []
  const closeChain = async () => {
    const fault = chain.length > 0 ? await findFault(chain, hashes) : null
    if (fault !== null) addFaults(finding, [fault])
    chain = []
  }
  for (;;) {
    const last = chain.at(-1)
    const after = last
      ? `where (user_id, consent_id, number) > (${quote(last.user_id)}, ${quote(last.consent_id)}, ${last.number})`
      : ''
    const page = await query<MergedRecord>(
      `select *, exists (select 1 from user_merges where user_merges.id = user_id) as is_merged
        from consent_records ${after} order by user_id, consent_id, number limit ${size}`,
    )
    for (const record of page) {
      const before = chain.at(-1)
      if (before && (before.user_id !== record.user_id || before.consent_id !== record.consent_id)) await closeChain()
      chain.push(record)
    }
    finding.compared += page.length
    if (page.length < size) break
  }
  await closeChain()
  return finding
}
