import { isRecord } from '../../domain/text/json.ts'
import type { DnsRecord } from '../../domain/messaging/sender-domains.ts'
import { type ProviderAnswer, getJson, postJson, readText } from '../provider-api/post-json.ts'
import type { ProviderDomain, ProviderDomains } from './email.ts'

interface ResendApi {
  /** Without a slash at the end. */
  base: string
  apiKey: string
}

/** A check makes up to four calls, and a request waits for them. */
const timeoutMs = 4000
const maxRecords = 20
const domainsAPage = 100
const maxPages = 10

const purposes: Record<string, DnsRecord['purpose']> = { SPF: 'spf', DKIM: 'dkim' }

function recordOf(value: unknown): DnsRecord | null {
  if (!isRecord(value)) return null
  const [type, name, content] = [readText(value['type']), readText(value['name']), readText(value['value'])]
  if (!type || !name || !content) return null
  const label = readText(value['record'])
  const { priority } = value
  return {
    purpose: (Object.hasOwn(purposes, label) ? purposes[label] : undefined) ?? 'other',
    type,
    name,
    value: content,
    priority: Number.isInteger(priority) ? Number(priority) : null,
  }
}

const isGood = (answer: ProviderAnswer): answer is ProviderAnswer & { came: true; body: Record<string, unknown> } =>
  answer.came && answer.status >= 200 && answer.status < 300 && isRecord(answer.body)

const headersOf = ({ apiKey }: ResendApi) => ({ authorization: `Bearer ${apiKey}` })

/** The id of a domain that the account already has. */
async function findId(api: ResendApi, domain: string): Promise<string | null> {
  let after = ''
  for (let page = 0; page < maxPages; page++) {
    const query = new URLSearchParams({ limit: String(domainsAPage), ...(after ? { after } : {}) }).toString()
    const answer = await getJson(`${api.base}/domains?${query}`, headersOf(api), timeoutMs)
    const data: unknown = isGood(answer) ? answer.body['data'] : null
    if (!isGood(answer) || !Array.isArray(data)) return null
    const rows = data.filter(isRecord)
    const found = rows.find((row) => readText(row['name']).toLowerCase() === domain)
    if (found) return readText(found['id']) || null
    after = readText(rows.at(-1)?.['id'])
    if (answer.body['has_more'] !== true || !after) return null
  }
  return null
}

async function register(api: ResendApi, domain: string): Promise<string | null> {
  const answer = await postJson(`${api.base}/domains`, headersOf(api), { name: domain }, timeoutMs)
  if (isGood(answer)) return readText(answer.body['id']) || null
  // Refused as one that is there already, or the answer was lost: both are in the list.
  return findId(api, domain)
}

async function read(api: ResendApi, id: string, domain: string): Promise<ProviderDomain | null> {
  const answer = await getJson(`${api.base}/domains/${encodeURIComponent(id)}`, headersOf(api), timeoutMs)
  if (!isGood(answer) || readText(answer.body['name']).toLowerCase() !== domain) return null
  const { status, records } = answer.body
  const given: unknown[] = Array.isArray(records) ? records : []
  return {
    id,
    is_verified: status === 'verified',
    records: given.slice(0, maxRecords).flatMap((value) => recordOf(value) ?? []),
  }
}

/** The domains of the account at Resend. A key that may only send cannot read them. */
export const resendDomains = (api: ResendApi): ProviderDomains => ({
  async check(domain, knownId) {
    const known = knownId === null ? null : await read(api, knownId, domain)
    const id = known?.id ?? (await register(api, domain))
    if (id === null) return null
    const found = known ?? (await read(api, id, domain))
    // The provider checks the records some time after the request.
    if (found && !found.is_verified)
      await postJson(`${api.base}/domains/${encodeURIComponent(id)}/verify`, headersOf(api), {}, timeoutMs)
    return found
  },
})
