import { isRecord } from '../../domain/text/json.ts'
import { getJson } from '../provider-api/call-api.ts'
import type { DnsGateway, TxtLookup } from './dns.ts'

const standardBase = 'https://cloudflare-dns.com/dns-query'
const standardTimeoutMs = 15_000

const codes = { noError: 0, noSuchName: 3 }
const types = { cname: 5, txt: 16 }

/** No domain has so many records. The rest of a longer response is ignored. */
const maxRecords = 200
const maxAliases = 8
const maxTextLength = 4096

interface ResourceRecord {
  name: string
  type: number
  data: string
}

const normalizeName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

function readRecord(value: unknown): ResourceRecord | null {
  if (!isRecord(value)) return null
  const { name, type, data } = value
  if (typeof name !== 'string' || typeof type !== 'number' || typeof data !== 'string') return null
  return { name: normalizeName(name), type, data: data.slice(0, maxTextLength) }
}

/** Lists the name and the names that it is an alias of. A loop of aliases ends the list. */
function listAliases(name: string, records: readonly ResourceRecord[]): Set<string> {
  const names = new Set([name])
  let currentName = name
  while (names.size <= maxAliases) {
    const alias = records.find((record) => record.type === types.cname && record.name === currentName)
    if (!alias) break
    currentName = normalizeName(alias.data)
    if (names.has(currentName)) break
    names.add(currentName)
  }
  return names
}

/** Joins the quoted parts of a record: `"one" "two"`. Some resolvers omit the quotes. */
function joinQuotedParts(data: string): string {
  const trimmedData = data.trim()
  if (!trimmedData.startsWith('"')) return trimmedData
  let text = ''
  let isQuoted = false
  for (const [part, code] of trimmedData.matchAll(/\\(\d{3}|.)|"|[^"\\]+/gs)) {
    if (part === '"') isQuoted = !isQuoted
    else if (isQuoted) text += code === undefined ? part : code.length === 3 ? String.fromCodePoint(Number(code)) : code
  }
  return text
}

function readTxtRecords(name: string, body: unknown): TxtLookup {
  if (!isRecord(body)) return { ok: false, code: 'failure' }
  if (body['Status'] === codes.noSuchName) return { ok: true, texts: [] }
  // A truncated response may lack the record.
  if (body['Status'] !== codes.noError || body['TC'] === true) return { ok: false, code: 'failure' }
  const section: unknown = body['Answer'] ?? []
  if (!Array.isArray(section)) return { ok: false, code: 'failure' }
  const records = section.slice(0, maxRecords).flatMap((value) => readRecord(value) ?? [])
  const aliases = listAliases(normalizeName(name), records)
  const texts = records.filter((record) => record.type === types.txt && aliases.has(record.name))
  return { ok: true, texts: texts.map(({ data }) => joinQuotedParts(data)) }
}

/** Creates a gateway to a resolver that answers JSON over HTTPS, such as those of Cloudflare and Google. */
export const createDnsOverHttps = (options: { apiBase: string; timeoutMs?: number }): DnsGateway => ({
  async lookUpTxt(name) {
    const url = `${options.apiBase || standardBase}?${new URLSearchParams({ name, type: 'TXT' }).toString()}`
    const response = await getJson(url, { accept: 'application/dns-json' }, options.timeoutMs ?? standardTimeoutMs)
    if (!response.isComplete) return { ok: false, code: response.code === 'timeout' ? 'timeout' : 'failure' }
    return response.status === 200 ? readTxtRecords(name, response.body) : { ok: false, code: 'failure' }
  },
})
