import type { DnsRecord } from '../../domain/messaging/sender-domains.ts'
import { isRecord } from '../../domain/text/json.ts'
import { type ProviderResponse, getJson, postJson, readText } from '../provider-api/call-api.ts'
import type { ProviderDomain, ProviderDomains } from './email.ts'

interface ResendApi {
  /** Without a slash at the end. */
  base: string
  apiKey: string
}

/** A check makes up to four calls while a request waits. */
const timeoutMs = 4000
const maxRecords = 20
const pageSize = 100
const maxPages = 10

const purposes: Record<string, DnsRecord['purpose']> = { SPF: 'spf', DKIM: 'dkim' }

function readRecord(value: unknown): DnsRecord | null {
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

const isSuccess = (
  response: ProviderResponse,
): response is ProviderResponse & { isComplete: true; body: Record<string, unknown> } =>
  response.isComplete && response.status >= 200 && response.status < 300 && isRecord(response.body)

const buildHeaders = ({ apiKey }: ResendApi) => ({ authorization: `Bearer ${apiKey}` })

/** Finds the id of a domain that the account already has. */
async function findId(api: ResendApi, domain: string): Promise<string | null> {
  let after = ''
  for (let page = 0; page < maxPages; page++) {
    const query = new URLSearchParams({ limit: String(pageSize), ...(after ? { after } : {}) }).toString()
    const response = await getJson(`${api.base}/domains?${query}`, buildHeaders(api), timeoutMs)
    const data: unknown = isSuccess(response) ? response.body['data'] : null
    if (!isSuccess(response) || !Array.isArray(data)) return null
    const rows = data.filter(isRecord)
    const match = rows.find((row) => readText(row['name']).toLowerCase() === domain)
    if (match) return readText(match['id']) || null
    after = readText(rows.at(-1)?.['id'])
    if (response.body['has_more'] !== true || !after) return null
  }
  return null
}

async function registerDomain(api: ResendApi, domain: string): Promise<string | null> {
  const response = await postJson(`${api.base}/domains`, buildHeaders(api), { name: domain }, timeoutMs)
  if (isSuccess(response)) return readText(response.body['id']) || null
  // The account already has the domain, or the response was lost. In both cases the list has the domain.
  return findId(api, domain)
}

async function readDomain(api: ResendApi, id: string, domain: string): Promise<ProviderDomain | null> {
  const response = await getJson(`${api.base}/domains/${encodeURIComponent(id)}`, buildHeaders(api), timeoutMs)
  if (!isSuccess(response) || readText(response.body['name']).toLowerCase() !== domain) return null
  const { status, records } = response.body
  const recordList: unknown[] = Array.isArray(records) ? records : []
  return {
    id,
    is_verified: status === 'verified',
    records: recordList.slice(0, maxRecords).flatMap((value) => readRecord(value) ?? []),
  }
}

/** The domains of a Resend account. A key that may only send cannot read them. */
export const createResendDomains = (api: ResendApi): ProviderDomains => ({
  async check(domain, storedId) {
    const storedDomain = storedId === null ? null : await readDomain(api, storedId, domain)
    const id = storedDomain?.id ?? (await registerDomain(api, domain))
    if (id === null) return null
    const providerDomain = storedDomain ?? (await readDomain(api, id, domain))
    // Resend checks the records some time after this request, so the next check sees the result.
    if (providerDomain && !providerDomain.is_verified)
      await postJson(`${api.base}/domains/${encodeURIComponent(id)}/verify`, buildHeaders(api), {}, timeoutMs)
    return providerDomain
  },
})
