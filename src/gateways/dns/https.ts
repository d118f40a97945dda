import { isRecord } from '../../domain/text/json.ts'
import { getJson } from '../provider-api/post-json.ts'
import type { DnsGateway, TxtAnswer } from './dns.ts'

const standardBase = 'https://cloudflare-dns.com/dns-query'
const standardTimeoutMs = 15_000

const codes = { noError: 0, noSuchName: 3 }
const types = { cname: 5, txt: 16 }

/** More records than a domain has; the rest of a longer answer is ignored. */
const maxAnswers = 200
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

/** The name itself and those of which it is an alias; a loop ends. */
function listAliases(name: string, records: readonly ResourceRecord[]): Set<string> {
  const names = new Set([name])
  let current = name
  while (names.size <= maxAliases) {
    const alias = records.find((record) => record.type === types.cname && record.name === current)
    if (!alias) break
    current = normalizeName(alias.data)
    if (names.has(current)) break
    names.add(current)
  }
  return names
}

/** The text of the quoted parts of a record: `"one" "two"`. Some resolvers leave the quotes out. */
function joinQuotedParts(data: string): string {
  const given = data.trim()
  if (!given.startsWith('"')) return given
  let text = ''
  let isQuoted = false
  for (const [part, code] of given.matchAll(/\\(\d{3}|.)|"|[^"\\]+/gs)) {
    if (part === '"') isQuoted = !isQuoted
    else if (isQuoted) text += code === undefined ? part : code.length === 3 ? String.fromCodePoint(Number(code)) : code
  }
  return text
}

function readAnswer(name: string, body: unknown): TxtAnswer {
  if (!isRecord(body)) return { ok: false, code: 'failure' }
  if (body['Status'] === codes.noSuchName) return { ok: true, texts: [] }
  // An answer that was cut off may lack the record.
  if (body['Status'] !== codes.noError || body['TC'] === true) return { ok: false, code: 'failure' }
  const given: unknown = body['Answer'] ?? []
  if (!Array.isArray(given)) return { ok: false, code: 'failure' }
  const records = given.slice(0, maxAnswers).flatMap((value) => readRecord(value) ?? [])
  const names = listAliases(normalizeName(name), records)
  const texts = records.filter((record) => record.type === types.txt && names.has(record.name))
  return { ok: true, texts: texts.map(({ data }) => joinQuotedParts(data)) }
}

/** A resolver that answers JSON over HTTPS, as those of Cloudflare and Google do. */
export const createDnsOverHttps = (options: { apiBase: string; timeoutMs?: number }): DnsGateway => ({
  async txt(name) {
    const url = `${options.apiBase || standardBase}?${new URLSearchParams({ name, type: 'TXT' }).toString()}`
    const answer = await getJson(url, { accept: 'application/dns-json' }, options.timeoutMs ?? standardTimeoutMs)
    if (!answer.came) return { ok: false, code: answer.code === 'timeout' ? 'timeout' : 'failure' }
    return answer.status === 200 ? readAnswer(name, answer.body) : { ok: false, code: 'failure' }
  },
})
