import { type ScanAnswer, parseScanAnswer } from '../../domain/files/scans.ts'
import { postJson } from '../provider-api/call-api.ts'

export interface ScanRequest {
  file_id: string
  /** The address from which the scanner reads the file, for 15 minutes. */
  url: string
  mime_type: string
  size: number
  checksum_sha256: string
  /** The address for an answer that takes the scanner longer. */
  callback_url: string
}

export interface FileScanner {
  /** Null when the answer comes later, or was not understood. */
  scan: (request: ScanRequest) => Promise<ScanAnswer | null>
}

const timeoutMs = 30_000

/** A scanner behind an address of its own, that reads the file by itself. */
export const httpScanner = ({ url, key }: { url: string; key: string }): FileScanner => ({
  async scan(request) {
    const answer = await postJson(url, key ? { authorization: `Bearer ${key}` } : {}, request, timeoutMs)
    return answer.came && answer.status === 200 ? parseScanAnswer(answer.body) : null
  },
})
