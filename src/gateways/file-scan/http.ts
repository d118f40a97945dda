import { scanAnswerOf } from '../../domain/files/scans.ts'
import { postJson } from '../provider-api/call-api.ts'
import type { FileScanner } from './file-scan.ts'

const timeoutMs = 30_000

/** A scanner behind an address of its own, that reads the file by itself. */
export const httpScanner = ({ url, key }: { url: string; key: string }): FileScanner => ({
  async scan(request) {
    const answer = await postJson(url, key ? { authorization: `Bearer ${key}` } : {}, request, timeoutMs)
    return answer.came && answer.status === 200 ? scanAnswerOf(answer.body) : null
  },
})
