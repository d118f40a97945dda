import { type ScanResult, parseScanResult } from '../../domain/files/scans.ts'
import { postJson } from '../provider-api/call-api.ts'

export interface ScanRequest {
  file_id: string
  /** The URL of the file, which works for 15 minutes. */
  url: string
  mime_type: string
  size: number
  checksum_sha256: string
  /** The URL to which the scanner can send its verdict later. */
  callback_url: string
}

export interface FileScanner {
  /** Null: the verdict comes later, or the response could not be read. */
  scan: (request: ScanRequest) => Promise<ScanResult | null>
}

const timeoutMs = 30_000

/** A scanner behind an HTTP API. It downloads the file itself. */
export const createHttpScanner = ({ url, key }: { url: string; key: string }): FileScanner => ({
  async scan(request) {
    const response = await postJson(url, key ? { authorization: `Bearer ${key}` } : {}, request, timeoutMs)
    return response.isComplete && response.status === 200 ? parseScanResult(response.body) : null
  },
})
